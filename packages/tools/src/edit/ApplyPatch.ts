/**
 * A patch from the model's text to the files: parsed, worked out against what is there, judged by the policy, asked for
 * where it says so, written by a process that the sandbox holds, told to listeners and model (§6.13, §8).
 *
 * Keeps L15: what is judged is where the links lead, and what writes is confined to what the policy allows.
 */
import { type PatchDecision, decidePatch } from "../policy/PatchPolicy.ts"
import type { Confinement } from "@colloquy/core/approvals/Confinement"
import { writableRoots } from "../policy/WritableRoots.ts"
import type { ToolContext, ToolResult } from "@colloquy/core/ToolRuntime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Path } from "effect/Path"
import * as Result from "effect/Result"
import { askFirst } from "../Asking.ts"
import * as Compute from "../patch/Compute.ts"
import * as PatchProcess from "../patch/PatchProcess.ts"
import * as PatchText from "../patch/PatchText.ts"
import type { Operation } from "../patch/Operation.ts"
import type { Captured, CommandNotStarted, CommandResult } from "../process/Command.ts"
import type { CommandRunner } from "../process/CommandRunner.ts"
import { modelText } from "../process/OutputFormat.ts"
import type { ProgramNotTrusted } from "../process/TrustedPrograms.ts"
import { isWithin } from "../sandbox/BubblewrapArgv.ts"
import { looksDenied } from "../sandbox/Denial.ts"
import type { Sandbox } from "../sandbox/Sandbox.ts"
import type { Files } from "./Files.ts"

export interface ApplyPatchOptions {
  readonly runner: CommandRunner["Service"]
  readonly sandbox: Sandbox["Service"]
  readonly files: Files
  readonly resolve: Path["resolve"]
  /** Absolute path of a Node that runs here; it writes patches in the sandbox. */
  readonly node: string
  /** The absolute path of a Node that no command can have changed; it writes patches outside the sandbox. */
  readonly trustedNode: Effect.Effect<string, ProgramNotTrusted>
  /** `$TMPDIR` of the server. */
  readonly tmpdir?: string
  /** Never written under a confining policy. Absolute. */
  readonly protectedPaths: ReadonlyArray<string>
}

/** Takes what was done and gives the diff of the whole turn, where it is another than before. */
export type DiffOf = (operations: ReadonlyArray<Operation>) => Effect.Effect<string | undefined>

/** Applies the patch `text`, whose paths are relative to `directory`. */
export type ApplyPatch = (
  text: string,
  directory: string,
  callId: string,
  context: ToolContext,
  turnDiff: DiffOf,
) => Effect.Effect<ToolResult>

/** Writing is quick; a file system that hangs must not hold the turn. */
const timeout = Duration.minutes(1)
const killGrace = Duration.millis(500)
/** What the program says is a line or two. */
const maxOutputBytes = 64 * 1024

interface Written {
  readonly applied: PatchProcess.Applied
  readonly duration: Duration.Duration
}

/** A plan, and where the links on its paths led when it was judged. */
interface Judged extends Compute.Plan {
  /** Its paths with all links followed. */
  readonly real: ReadonlyArray<string>
  /** The same, and its paths with the links followed that are not their last part. */
  readonly places: ReadonlyArray<string>
}

const captured = (text: string): Captured => ({
  text,
  totalBytes: new TextEncoder().encode(text).length,
  omittedBytes: 0,
})

/** The result as that of a command: models read patches and commands alike. */
const resultOf = ({ applied, duration }: Written, stdout = ""): CommandResult => {
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

const wantsRetry = (decision: Application, written: Written): boolean => {
  const { done, error } = written.applied
  const mayRetry = decision.escalateOnDenial && decision.confinement !== "none" && done === 0
  return error !== undefined && mayRetry && looksDenied(resultOf(written))
}

type Application = Extract<PatchDecision, { readonly _tag: "Apply" }>

export const make = (options: ApplyPatchOptions): ApplyPatch => {
  const { files, protectedPaths, runner, sandbox, tmpdir } = options

  const canonicalAll = (paths: ReadonlyArray<string>) => Effect.forEach(paths, files.canonical)

  /** What is protected, without links; a workspace inside of a protected directory is worked in, as by commands. */
  const protectedFor = Effect.fnUntraced(function* (cwd: string) {
    const workspace = yield* files.canonical(cwd)
    const paths = yield* canonicalAll(protectedPaths)
    return paths.filter((path) => path === workspace || !isWithin(workspace, path))
  })

  /** The roots of the policy with their links followed, like the paths that are held against them. */
  const writableOf = Effect.fnUntraced(function* ({ settings }: ToolContext) {
    const shut = yield* protectedFor(settings.cwd)
    const lexical = writableRoots(settings.sandboxPolicy, {
      cwd: settings.cwd,
      ...(tmpdir === undefined ? {} : { tmpdir }),
      slashTmpIsDirectory: true,
      protectedPaths: shut,
    })
    if (lexical._tag === "Everything") return lexical
    const roots = yield* canonicalAll(lexical.roots.map(({ root }) => root))
    return writableRoots(
      { mode: "workspace-write", writable_roots: roots, exclude_slash_tmp: true },
      { cwd: roots[0] ?? "/", slashTmpIsDirectory: false, protectedPaths: shut },
    )
  })

  /** What a person has to see of links: the paths that lead out of the place that their names say. */
  const linksOf = Effect.fnUntraced(function* (plan: Judged, { settings }: ToolContext) {
    const cwd = yield* files.canonical(settings.cwd)
    return Object.fromEntries(
      plan.paths.flatMap((path, index) => {
        const real = plan.real[index] ?? path
        const isPlain =
          real === path ||
          (path.startsWith(`${settings.cwd}/`) && real === cwd + path.slice(settings.cwd.length))
        return isPlain ? [] : [[path, real] as const]
      }),
    )
  })

  const question = Effect.fnUntraced(function* (
    plan: Judged,
    callId: string,
    confinement: Confinement,
    reason: string | undefined,
    context: ToolContext,
  ) {
    const links = yield* linksOf(plan, context)
    return {
      _tag: "Patch" as const,
      callId,
      changes: plan.changes,
      confinement,
      ...(Object.keys(links).length === 0 ? {} : { links }),
      ...(reason === undefined ? {} : { reason }),
    }
  })

  /** A link is changed where it leads, and removed where it stands. */
  const judged = Effect.fnUntraced(function* (plan: Compute.Plan) {
    const standing = yield* Effect.forEach(plan.paths, files.standing)
    const real = yield* canonicalAll(plan.paths)
    return { ...plan, real, places: [...new Set([...real, ...standing])] } satisfies Judged
  })

  const decide = Effect.fnUntraced(function* (plan: Judged, context: ToolContext) {
    const { approvalPolicy, sandboxPolicy } = context.settings
    const writable =
      sandboxPolicy.mode === "read-only"
        ? ({ _tag: "Roots", roots: [] } as const)
        : yield* writableOf(context)
    return decidePatch({
      paths: plan.real,
      approvalPolicy,
      sandboxPolicy,
      writable,
      sandbox: yield* sandbox.status,
      isGranted: false,
    })
  })

  const write = Effect.fnUntraced(function* (
    plan: Judged,
    confinement: Confinement,
    context: ToolContext,
  ): Effect.fn.Return<Written, CommandNotStarted | ProgramNotTrusted> {
    const { cwd } = context.settings
    const node = confinement === "none" ? yield* options.trustedNode : options.node
    const program = PatchProcess.launch(node, cwd, plan, {
      // The mounts of the sandbox say where it may write; without, it is held to where the links led when it was
      // judged: a person may have looked at the question for long.
      within: confinement === "none" ? plan.places : undefined,
      keepOut: confinement === "none" ? [] : yield* protectedFor(cwd),
    })
    return yield* Effect.scoped(
      Effect.gen(function* () {
        const launch =
          confinement === "none"
            ? { ...program, inputs: new Map<number, Uint8Array>(), diesWithParent: false }
            : yield* sandbox.confine(program, confinement, cwd)
        const result = yield* runner.run(launch, {
          timeout,
          killGrace,
          maxOutputBytes,
          onOutput: () => Effect.void,
        })
        return { applied: PatchProcess.read(result.stdout.text), duration: result.duration }
      }),
    )
  })

  /** Asks whether the patch may be written without the sandbox; undefined when it may not. */
  const askAgain = Effect.fnUntraced(function* (
    plan: Judged,
    callId: string,
    reason: string,
    context: ToolContext,
  ) {
    const request = yield* question(plan, callId, "none", reason, context)
    if ((yield* askFirst(context, request)) !== undefined) return undefined
    yield* context.emit({ type: "background_event", message: "retrying command without sandbox" })
    return yield* write(plan, "none", context)
  })

  /**
   * Writes; and once more without the sandbox, if a person allows it, where the sandbox refused something or did not
   * start.
   */
  const writeOrRetry = Effect.fnUntraced(
    function* (plan: Judged, decision: Application, callId: string, context: ToolContext) {
      const first = yield* Effect.result(write(plan, decision.confinement, context))
      if (Result.isFailure(first)) {
        const { failure } = first
        const { message } = failure
        const isSandbox = failure._tag === "CommandNotStarted" && failure.reason === "Sandbox"
        const mayAsk = isSandbox && context.settings.approvalPolicy !== "never"
        const again = mayAsk ? yield* askAgain(plan, callId, message, context) : undefined
        return again ?? failed(message)
      }
      if (!wantsRetry(decision, first.success)) return first.success
      const message = `Execution failed: ${first.success.applied.error}`
      yield* context.emit({ type: "background_event", message })
      const again = "command failed; retry without sandbox?"
      return (yield* askAgain(plan, callId, again, context)) ?? first.success
    },
    Effect.catch(({ message }) => Effect.succeed(failed(message))),
  )

  const apply = Effect.fnUntraced(function* (
    plan: Judged,
    decision: Application,
    approval: { readonly callId: string; readonly isAutomatic: boolean },
    context: ToolContext,
    turnDiff: DiffOf,
  ): Effect.fn.Return<ToolResult> {
    const call_id = approval.callId
    yield* context.emit({
      type: "patch_apply_begin",
      call_id,
      auto_approved: approval.isAutomatic,
      changes: plan.changes,
    })
    const written = yield* writeOrRetry(plan, decision, call_id, context)
    const { applied } = written
    const success = applied.error === undefined
    const stdout = success ? Compute.summary(plan) : ""
    const stderr = applied.error === undefined ? "" : `${applied.error}\n`
    yield* context.emit({ type: "patch_apply_end", call_id, stdout, stderr, success })
    const unified_diff = yield* turnDiff(plan.operations.slice(0, applied.done))
    if (unified_diff !== undefined) yield* context.emit({ type: "turn_diff", unified_diff })
    return { output: modelText(resultOf(written, stdout)) }
  })

  return Effect.fnUntraced(function* (text, directory, callId, context, turnDiff) {
    const hunks = PatchText.parse(text)
    if (Result.isFailure(hunks)) return { output: `error: ${hunks.failure.message}` }
    const computed = yield* Compute.plan(
      hunks.success,
      directory,
      { resolve: options.resolve },
      files.readIn(context.settings.cwd),
    )
    if (computed.error !== undefined && hunks.success.length > 0) {
      return { output: `error: ${computed.error}` }
    }
    const plan = yield* judged(computed)
    const decision = yield* decide(plan, context)
    switch (decision._tag) {
      case "Reject":
        return { output: decision.output }
      case "Apply":
        return yield* apply(plan, decision, { callId, isAutomatic: true }, context, turnDiff)
      case "Ask": {
        const { reason, thenConfinement } = decision
        const request = yield* question(plan, callId, thenConfinement, reason, context)
        const refused = yield* askFirst(context, request)
        if (refused !== undefined) return { output: `patch ${refused}` }
        const granted = {
          _tag: "Apply",
          confinement: thenConfinement,
          escalateOnDenial: false,
        } as const
        return yield* apply(plan, granted, { callId, isAutomatic: false }, context, turnDiff)
      }
    }
  })
}
