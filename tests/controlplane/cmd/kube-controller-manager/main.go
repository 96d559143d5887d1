// Command kube-controller-manager is Kubernetes' own command, unchanged. The
// tests switch on its garbage collector and namespace controllers alone.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
