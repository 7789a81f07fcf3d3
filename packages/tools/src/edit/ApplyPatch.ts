/**
 * Takes a patch from the model's text to the files: parses it, plans it against the files, decides by the policy, asks
 * a person where that says so, has it written (`PatchWriter`), and reports to listeners and model.
 *
 * Keeps L15: what is decided about is where the links lead (`ResolvedPlan`), and what writes is confined to what the
 * policy allows.
 */
import { refusedCall, type ToolContext, type ToolResult } from "@colloquy/core/ToolRuntime"
import * as Effect from "effect/Effect"
import type { Path } from "effect/Path"
import * as Result from "effect/Result"
import { requestApproval } from "../RequestApproval.ts"
import * as PatchPlan from "../patch/PatchPlan.ts"
import type { Operation } from "../patch/Operation.ts"
import * as PatchText from "../patch/PatchText.ts"
import { decidePatch } from "../policy/PatchPolicy.ts"
import { currentPolicy } from "../policy/GrantedPolicy.ts"
import { modelText } from "../process/OutputFormat.ts"
import * as PatchWriter from "./PatchWriter.ts"
import { question, type ResolvedPlan, resolvePlan, writableFor } from "./ResolvedPlan.ts"
import { policyFor } from "../policy/AllowedQuestions.ts"

/** What applying patches needs. */
export interface ApplyPatchOptions extends PatchWriter.PatchWriterOptions {
  readonly resolve: Path["resolve"]
}

/** Takes the operations that were done, and returns the diff of the whole turn if it changed. */
export type DiffOf = (operations: ReadonlyArray<Operation>) => Effect.Effect<string | undefined>

/** Applies the patch `text`, whose paths are relative to `directory`. Never fails: an error is part of the output. */
export type ApplyPatch = (
  text: string,
  directory: string,
  callId: string,
  context: ToolContext,
  turnDiff: DiffOf,
) => Effect.Effect<ToolResult>

/** A patch about which a decision was made. */
interface Approved {
  readonly plan: ResolvedPlan
  readonly decision: PatchWriter.Application
  readonly callId: string
  /** True when no person was asked. */
  readonly isAutomatic: boolean
}

const decide = Effect.fnUntraced(function* (
  options: ApplyPatchOptions,
  plan: ResolvedPlan,
  context: ToolContext,
) {
  const sandboxPolicy = yield* currentPolicy(context)
  return decidePatch({
    paths: plan.real,
    approvalPolicy: policyFor(context.settings, "sandbox"),
    sandboxPolicy,
    writable: yield* writableFor(options, context, sandboxPolicy),
    sandbox: yield* options.sandbox.status,
    isGranted: false,
  })
})

const apply = Effect.fnUntraced(function* (
  options: ApplyPatchOptions,
  { callId: call_id, decision, isAutomatic, plan }: Approved,
  context: ToolContext,
  turnDiff: DiffOf,
): Effect.fn.Return<ToolResult> {
  const { changes } = plan
  yield* context.emit({
    type: "patch_apply_begin",
    call_id,
    auto_approved: isAutomatic,
    changes,
  })
  const written = yield* PatchWriter.write(options, plan, decision, call_id, context)
  const { applied } = written
  const success = applied.error === undefined
  const stdout = success ? PatchPlan.summary(plan) : ""
  const stderr = applied.error === undefined ? "" : `${applied.error}\n`
  yield* context.emit({ type: "patch_apply_end", call_id, stdout, stderr, success })
  const unified_diff = yield* turnDiff(plan.operations.slice(0, applied.done))
  if (unified_diff !== undefined) yield* context.emit({ type: "turn_diff", unified_diff })
  return { output: modelText(PatchWriter.resultOf(written, stdout)) }
})

/** Applies patches on this machine. */
export const make = (options: ApplyPatchOptions): ApplyPatch =>
  Effect.fn("ApplyPatch.apply")(function* (text, directory, callId, context, turnDiff) {
    const hunks = PatchText.parse(text)
    if (Result.isFailure(hunks)) return refusedCall(`error: ${hunks.failure.message}`)
    const computed = yield* PatchPlan.make(
      hunks.success,
      directory,
      { resolve: options.resolve },
      options.files.readIn(context.settings.cwd),
    )
    if (computed.error !== undefined && hunks.success.length > 0) {
      return refusedCall(`error: ${computed.error}`)
    }
    const plan = yield* resolvePlan(options.files, computed)
    const decision = yield* decide(options, plan, context)
    if (decision._tag === "Reject") return refusedCall(decision.output)
    if (decision._tag === "Apply") {
      const approved = { plan, decision, callId, isAutomatic: true }
      return yield* apply(options, approved, context, turnDiff)
    }
    const { reason, thenConfinement: confinement } = decision
    const call = { callId, confinement, reason }
    const refused = yield* requestApproval(
      context,
      yield* question(options.files, plan, call, context),
    )
    if (refused !== undefined) return { output: `patch ${refused}` }
    const granted = { _tag: "Apply", confinement, escalateOnDenial: false } as const
    const approved = { plan, decision: granted, callId, isAutomatic: false }
    return yield* apply(options, approved, context, turnDiff)
  })
