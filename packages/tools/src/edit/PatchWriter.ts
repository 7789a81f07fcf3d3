/**
 * Writes the files of a patch, by a Node process that the sandbox confines; when the sandbox denies something or does
 * not start, a person is asked whether to write without it. Never fails: an error is part of the result.
 *
 * Keeps L15: the process is confined to what the policy allows. Without a sandbox it writes only where the links led
 * when the question was asked.
 *
 *     write confined --done--------------------------------------------> result
 *         |                                                                ^
 *         +--denied or sandbox failed--> ask --approved--> write unconfined+
 *                                         +----denied--> result with error +
 */
import type { Confinement } from "@colloquy/core/approvals/Confinement"
import type { ToolContext } from "@colloquy/core/ToolRuntime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { requestApproval } from "../RequestApproval.ts"
import * as PatchProcess from "../patch/PatchProcess.ts"
import type { PatchDecision } from "../policy/PatchPolicy.ts"
import type { Captured, CommandNotStarted, CommandResult } from "../process/Command.ts"
import type { CommandRunner } from "../process/CommandRunner.ts"
import type { ProgramNotTrusted } from "../programs/TrustedPrograms.ts"
import { looksDenied } from "../sandbox/Denial.ts"
import type { Sandbox } from "../sandbox/Sandbox.ts"
import { protectedFor, question, type ResolvedPlan, type ResolvingOptions } from "./ResolvedPlan.ts"
import { policyFor } from "../policy/AllowedQuestions.ts"

/** What writing needs. */
export interface PatchWriterOptions extends ResolvingOptions {
  readonly runner: CommandRunner["Service"]
  readonly sandbox: Sandbox["Service"]
  /** Absolute path of a Node that runs here; it writes patches in the sandbox. */
  readonly node: string
  /** Absolute path of a Node that no command can have changed; it writes patches outside the sandbox. */
  readonly trustedNode: Effect.Effect<string, ProgramNotTrusted>
}

/** The decision to apply a patch. */
export type Application = Extract<PatchDecision, { readonly _tag: "Apply" }>

/** What was written. */
export interface Written {
  readonly applied: PatchProcess.Applied
  /** From the start of the first attempt to the end of the last one. */
  readonly duration: Duration.Duration
}

/** Writing is quick; a file system that hangs must not keep the turn running. */
const timeout = Duration.minutes(1)
const killGrace = Duration.millis(500)
/** The program prints a line or two. */
const maxOutputBytes = 64 * 1024

const captured = (text: string): Captured => ({
  text,
  totalBytes: new TextEncoder().encode(text).length,
  omittedBytes: 0,
})

/** The result in the form of a command's result, because models read both alike. */
export const resultOf = ({ applied, duration }: Written, stdout = ""): CommandResult => {
  const stderr = applied.error === undefined ? "" : `${applied.error}\n`
  return {
    exit: { _tag: "Exited", code: applied.error === undefined ? 0 : 1 },
    stdout: captured(stdout),
    stderr: captured(stderr),
    aggregated: captured(stdout + stderr),
    duration,
  }
}

const failed = (error: string): Written => ({
  applied: { done: 0, error },
  duration: Duration.zero,
})

const needsRetry = (decision: Application, written: Written): boolean => {
  const { done, error } = written.applied
  const mayRetry = decision.escalateOnDenial && decision.confinement !== "none" && done === 0
  return error !== undefined && mayRetry && looksDenied(resultOf(written))
}

const run = Effect.fnUntraced(function* (
  options: PatchWriterOptions,
  plan: ResolvedPlan,
  confinement: Confinement,
  { settings: { cwd } }: ToolContext,
): Effect.fn.Return<Written, CommandNotStarted | ProgramNotTrusted> {
  const node = confinement === "none" ? yield* options.trustedNode : options.node
  const program = PatchProcess.launch(node, cwd, plan, {
    // The mounts of the sandbox restrict where it may write. Without them, it is restricted to where the links led when
    // the decision was made: a person may have looked at the question for long.
    within: confinement === "none" ? plan.places : undefined,
    keepOut: confinement === "none" ? [] : yield* protectedFor(options, cwd),
  })
  return yield* Effect.scoped(
    Effect.gen(function* () {
      const launch =
        confinement === "none"
          ? { ...program, inputs: new Map<number, Uint8Array>(), diesWithParent: false }
          : options.sandbox.confine(program, confinement, cwd)
      const result = yield* options.runner.run(launch, {
        timeout,
        killGrace,
        maxOutputBytes,
        onOutput: () => Effect.void,
      })
      return { applied: PatchProcess.read(result.stdout.text), duration: result.duration }
    }),
  )
})

/** Asks whether the patch may be written without the sandbox, and writes it; undefined when it may not. */
const askAgain = Effect.fnUntraced(function* (
  options: PatchWriterOptions,
  plan: ResolvedPlan,
  call: { readonly callId: string; readonly reason: string },
  context: ToolContext,
) {
  const request = yield* question(options.files, plan, { ...call, confinement: "none" }, context)
  if ((yield* requestApproval(context, request)) !== undefined) return undefined
  yield* context.emit({ type: "background_event", message: "retrying command without sandbox" })
  return yield* run(options, plan, "none", context)
})

/**
 * Writes the patch; and again without the sandbox, if a person allows it, where the sandbox denied something or failed.
 */
export const write = Effect.fn("PatchWriter.write")(
  function* (
    options: PatchWriterOptions,
    plan: ResolvedPlan,
    decision: Application,
    callId: string,
    context: ToolContext,
  ) {
    const first = yield* Effect.result(run(options, plan, decision.confinement, context))
    if (Result.isFailure(first)) {
      const { failure } = first
      const isSandbox = failure._tag === "CommandNotStarted" && failure.reason === "Sandbox"
      const mayAsk = isSandbox && policyFor(context.settings, "sandbox") !== "never"
      const call = { callId, reason: failure.message }
      const again = mayAsk ? yield* askAgain(options, plan, call, context) : undefined
      return again ?? failed(failure.message)
    }
    if (!needsRetry(decision, first.success)) return first.success
    const message = `Execution failed: ${first.success.applied.error}`
    yield* context.emit({ type: "background_event", message })
    const call = { callId, reason: "command failed; retry without sandbox?" }
    return (yield* askAgain(options, plan, call, context)) ?? first.success
  },
  Effect.catch(({ message }) => Effect.succeed(failed(message))),
)
