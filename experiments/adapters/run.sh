#!/usr/bin/env bash
# Make every adapter that ships, each by one command that its card repeats. Usage: run.sh PATH_TO_TRAJAUDIT [overrides…]
# ONLY=name makes one of them, TO=FOLDER puts them elsewhere. A finished fit is not fitted again, a killed one goes on.
set -euo pipefail
cd "$(dirname "$0")/../.."
trajaudit=$1
shift
extra=("$@")
to=${TO:-src/trajaudit/detectors/fitted}
desk="dataset=support_desk dataset.preset=varied dataset.n=${RUNS:-1000} dataset.seed=0"
desk_elsewhere="+dataset@also.bank_b=support_desk also.bank_b.preset=varied also.bank_b.wording=b also.bank_b.n=400 also.bank_b.seed=2
  +dataset@also.published=trajectory_judge"
plant="dataset=asset_ops dataset.n=${RUNS:-1500}"  # the sets of context_ordering, so that their vectors are there
plant_bank_b="+dataset@also.bank_b=asset_ops also.bank_b.wording=b also.bank_b.n=900 also.bank_b.seed=8"
plant_elsewhere="$plant_bank_b +dataset@also.smart_grid=smart_grid"

fit() { # name, overrides: in words, so that a set is written once
  local name=$1
  shift
  if [ -n "${ONLY:-}" ] && [ "$ONLY" != "$name" ]; then return 0; fi
  echo "== $name"
  # shellcheck disable=SC2086,SC2048
  "$trajaudit" fit to="$to/$name" $* ${extra[@]+"${extra[@]}"}
}

if [ -z "${ONLY:-}" ] || [ "$ONLY" = support_desk ]; then
  echo "== support_desk (rules, conformance, claims, hybrid)"
  "$trajaudit" reproduce experiment=blind_spot recipe.models="$to/support_desk"
fi
fit support_desk_steps detector=bert_step trainer="${TRAINER:-heads}" $desk $desk_elsewhere
fit claims_entailment dataset=infotabs trainer=lora trainer.epochs=2 $desk_elsewhere also.bank_b.procedure=support_desk_standing \
  also.published.procedure=support_desk_standing +dataset@also.plant=asset_ops
fit asset_ops_steps detector=bert_step trainer="${TRAINER:-heads}" $plant $plant_elsewhere
fit asset_ops_nli detector=nli trainer="${TRAINER:-heads}" $plant $plant_elsewhere
fit asset_ops_runs detector=longformer trainer="${TRAINER:-heads}" $plant $plant_bank_b
"$trajaudit" adapters
