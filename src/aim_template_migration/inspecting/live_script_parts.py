"""The fixed parts of the live validation script: POSIX shell, read-only, private output."""

HEAD = """\
#!/bin/sh
# Live validation after a template migration: review it, edit it, and run it as the administrator of the cluster.
#
# Made from plan {plan_id} by aim-template-migration {version}.
# SHA-256 of the plan file: {sha256}
#
# It only reads ("kubectl get"). The one request that is no read, the inference request near the end, is commented out
# until you have edited it. It prints "ok", "DIFFERS" and "case" lines, writes them to a private directory, and exits 1
# where something differs. What it can't judge becomes a case in unsupported-cases.txt.
#
# usage: sh FILE [DIRECTORY]        the directory must not exist; it is made with mode 0700
# KUBECTL       the kubectl to call (default: kubectl); KUBECONFIG chooses the cluster
# GPU_RESOURCE  the resource that pods ask for (default: amd.com/gpu)
set -eu
umask 077
LC_ALL=C
export LC_ALL

KUBECTL=${{KUBECTL:-kubectl}}
GPU_RESOURCE=${{GPU_RESOURCE:-amd.com/gpu}}
PLANNED_AT={planned_at}
DEFAULT_OUT={directory}
OUT=${{1:-$DEFAULT_OUT}}

mkdir -m 700 -- "$OUT"
REPORT=$OUT/report.txt
CASES=$OUT/unsupported-cases.txt
ERRORS=$OUT/errors.txt
: >"$REPORT"
: >"$CASES"
: >"$ERRORS"
FAILURES=0
GPU_KEY=$(printf '%s' "$GPU_RESOURCE" | sed 's/\\./\\\\./g')
"""

FUNCTIONS = r"""
say() {
  printf '%s\n' "$*"
  printf '%s\n' "$*" >>"$REPORT"
}

pass() {
  say "ok       $*"
}

differs() {
  say "DIFFERS  $*"
  FAILURES=$((FAILURES + 1))
}

# unsupported TEXT: a concrete case that nothing automatic covers; it goes to the private file.
unsupported() {
  say "case     $*"
  printf '%s\n' "$*" >>"$CASES"
}

# field NAMESPACE KIND NAME JSONPATH: print one field; nothing where it is absent or can't be read.
field() {
  "$KUBECTL" get "$2" "$3" --namespace "$1" --output "jsonpath=$4" 2>>"$ERRORS" || :
}

# equal WHAT FOUND WANTED
equal() {
  if [ "$2" = "$3" ]; then
    pass "$1 is $3"
  else
    differs "$1 is ${2:-absent}, not $3"
  fi
}

# later TIME TIME: whether the first is after the second (RFC 3339, UTC).
later() {
  [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort | tail -n 1)" = "$1" ]
}

# service NAMESPACE NAME UID GENERATION PROFILE
service() {
  kind=aimservices.v1alpha2.aim.eai.amd.com
  equal "AIMService $1/$2: UID" "$(field "$1" "$kind" "$2" '{.metadata.uid}')" "$3"
  equal "AIMService $1/$2: generation" "$(field "$1" "$kind" "$2" '{.metadata.generation}')" "$4"
  equal "AIMService $1/$2: observedGeneration" "$(field "$1" "$kind" "$2" '{.status.observedGeneration}')" "$4"
  equal "AIMService $1/$2: resolved profile" "$(field "$1" "$kind" "$2" '{.status.resolvedProfile.name}')" "$5"
  ready "AIMService $1/$2" "$(field "$1" "$kind" "$2" '{.status.conditions[?(@.type=="Ready")].status}')"
}

ready() {
  equal "$1: condition Ready" "$2" True
}

# inference_service NAMESPACE NAME UID GENERATION
inference_service() {
  kind=inferenceservices.v1beta1.serving.kserve.io
  equal "InferenceService $1/$2: UID" "$(field "$1" "$kind" "$2" '{.metadata.uid}')" "$3"
  equal "InferenceService $1/$2: generation" "$(field "$1" "$kind" "$2" '{.metadata.generation}')" "$4"
  ready "InferenceService $1/$2" "$(field "$1" "$kind" "$2" '{.status.conditions[?(@.type=="Ready")].status}')"
}

# predictor NAMESPACE DEPLOYMENT UID INFERENCESERVICE: the revision that serves, and whether it is older than the plan.
predictor() {
  equal "Deployment $1/$2: UID" "$(field "$1" deployments.v1.apps "$2" '{.metadata.uid}')" "$3"
  path='{range .items[*]}{.metadata.name}{"|"}{.metadata.annotations.deployment\.kubernetes\.io/revision}'
  path=$path'{"|"}{.spec.replicas}{"|"}{.status.readyReplicas}{"|"}{.metadata.creationTimestamp}{"\n"}{end}'
  sets=$("$KUBECTL" get replicasets.v1.apps --namespace "$1" --selector "serving.kserve.io/inferenceservice=$4" \
    --output "jsonpath=$path" 2>>"$ERRORS" || :)
  active=0
  while IFS='|' read -r name revision wanted available created; do
    case $wanted in '' | 0) continue ;; esac
    active=$((active + 1))
    say "         ReplicaSet $name: revision ${revision:-unknown}, ${available:-0} of $wanted ready, made $created"
    if later "$created" "$PLANNED_AT"; then
      differs "ReplicaSet $1/$name was made after the plan ($PLANNED_AT): the predictor rolled"
    fi
    if [ -z "$revision" ]; then
      unsupported "ReplicaSet $1/$name has no revision annotation, so that its revision can't be observed"
    fi
  done <<END_OF_SETS
$sets
END_OF_SETS
  case $active in
    0) unsupported "Deployment $1/$2 has no ReplicaSet with replicas: it may be scaled to zero, or can't be read" ;;
    1) pass "Deployment $1/$2: one ReplicaSet serves" ;;
    *) differs "Deployment $1/$2: $active ReplicaSets have replicas, so that a rollout is under way" ;;
  esac
}

# gpus NAMESPACE INFERENCESERVICE: each pod is Ready, asks for GPUs, and its node has some.
gpus() {
  path='{range .items[*]}{.metadata.name}{"|"}{.spec.nodeName}{"|"}{.status.conditions[?(@.type=="Ready")].status}'
  path=$path'{"|"}{.status.containerStatuses[*].restartCount}{"|"}'
  path=$path'{.spec.containers[*].resources.limits.'$GPU_KEY'}{"\n"}{end}'
  pods=$("$KUBECTL" get pods --namespace "$1" --selector "serving.kserve.io/inferenceservice=$2" \
    --output "jsonpath=$path" 2>>"$ERRORS" || :)
  seen=0
  while IFS='|' read -r name node is_ready restarts asked; do
    [ -n "$name" ] || continue
    seen=$((seen + 1))
    ready "Pod $1/$name" "$is_ready"
    say "         Pod $name: node ${node:-none}, restarts ${restarts:-unknown}, $GPU_RESOURCE ${asked:-none}"
    if [ -z "$asked" ]; then
      unsupported "Pod $1/$name asks for no $GPU_RESOURCE, so that its GPU readiness can't be observed"
    elif [ -z "$node" ]; then
      unsupported "Pod $1/$name names no node, so that its GPU readiness can't be observed"
    else
      node_has_gpus "$1/$name" "$node"
    fi
  done <<END_OF_PODS
$pods
END_OF_PODS
  if [ "$seen" -eq 0 ]; then
    unsupported "InferenceService $1/$2 has no pods: it may be scaled to zero, or they can't be read"
  fi
}

# node_has_gpus POD NODE
node_has_gpus() {
  free=$("$KUBECTL" get nodes "$2" --output "jsonpath={.status.allocatable.$GPU_KEY}" 2>>"$ERRORS" || :)
  case $free in
    '') unsupported "node $2 of pod $1 shows no allocatable $GPU_RESOURCE, or can't be read" ;;
    0) differs "node $2 of pod $1 has no allocatable $GPU_RESOURCE" ;;
    *) pass "node $2 of pod $1 has $free allocatable $GPU_RESOURCE" ;;
  esac
}

# weights NAMESPACE ARTIFACT UID CLAIM UID
weights() {
  kind=aimartifacts.v1alpha1.aim.eai.amd.com
  equal "AIMArtifact $1/$2: UID" "$(field "$1" "$kind" "$2" '{.metadata.uid}')" "$3"
  equal "AIMArtifact $1/$2: status" "$(field "$1" "$kind" "$2" '{.status.status}')" Ready
  equal "AIMArtifact $1/$2: claim" "$(field "$1" "$kind" "$2" '{.status.persistentVolumeClaim}')" "$4"
  equal "PersistentVolumeClaim $1/$4: UID" "$(field "$1" persistentvolumeclaims "$4" '{.metadata.uid}')" "$5"
  equal "PersistentVolumeClaim $1/$4: phase" "$(field "$1" persistentvolumeclaims "$4" '{.status.phase}')" Bound
}
"""

INFERENCE = """
# The inference request. It is no read: edit the model and the prompt, check the Service, then uncomment it. It goes
# through the API server, so that the identity needs the verb create on services/proxy.
#
# cat >"$OUT/request.json" <<'END_OF_REQUEST'
# {"model": "EDIT-ME", "messages": [{"role": "user", "content": "Answer with one word."}], "max_tokens": 8}
# END_OF_REQUEST"""

REQUEST = """\
# "$KUBECTL" create --raw {path} -f "$OUT/request.json" >>"$REPORT\""""

TAIL = """
say ""
say "$FAILURES facts differ; $(wc -l <"$CASES" | tr -d ' ') unsupported cases; report: $REPORT, cases: $CASES"
if [ -s "$ERRORS" ]; then
  say "some reads failed: $ERRORS"
fi
say "No real inference request was part of this unless you added it."
[ "$FAILURES" -eq 0 ]
"""
