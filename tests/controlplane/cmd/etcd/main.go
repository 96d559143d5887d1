// Command etcd is etcd's own command, unchanged: a single member that is
// started with the same flags as any published build of it.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
