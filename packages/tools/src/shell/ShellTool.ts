/**
 * The shell of a conversation: decides about a command by the policy, asks where that says so, runs it, and reports to
 * listeners and model. A patch that is written as a command is passed on before anything is decided.
 *
 * Keeps L15: a command runs outside the sandbox by policy or after a question that says so, and in no other case.
 *
 *     decide --reject--> rejected
 *       +--run--> run confined --sandbox failed, may ask--+
 *       |               +--seems denied, may escalate--> ask --approved--> run unconfined
 *       +--ask--------------------------------------------^ +--refused, or the directory changed--> rejected
 */
import {
  type CommandDecision,
  confines,
  decideCommand,
  sandboxMissing,
} from "../policy/CommandPolicy.ts"
import { currentPolicy } from "../policy/GrantedPolicy.ts"
import { parsedCommand } from "../policy/ParsedCommand.ts"
import { isKnownSafe } from "../policy/SafeCommand.ts"
import type { ConversationSettings } from "@colloquy/core/ConversationSettings"
import { refusedCall, type ToolContext, type ToolResult } from "@colloquy/core/ToolRuntime"
import type { SandboxPolicy } from "@colloquy/protocol/Policy"
import * as Effect from "effect/Effect"
import type { Path } from "effect/Path"
import * as Result from "effect/Result"
import { requestApproval } from "../RequestApproval.ts"
import { CommandNotStarted, type CommandResult } from "../process/Command.ts"
import { modelText } from "../process/OutputFormat.ts"
import { looksDenied } from "../sandbox/Denial.ts"
import type { Sandbox } from "../sandbox/Sandbox.ts"
import { functionTool, type Tool, toolArguments } from "../Tool.ts"
import type { AttemptCommand, Attempts } from "./Attempt.ts"
import * as ShellCall from "./ShellCall.ts"
import { isSame, type WorkingDirectory } from "./WorkingDirectory.ts"
import { policyFor } from "../policy/AllowedQuestions.ts"

const shellArguments = toolArguments(ShellCall.ShellArguments)

const fullAccess: SandboxPolicy = { mode: "danger-full-access" }

interface Why {
  /** Reason of the tool. */
  readonly reason?: string | undefined
  /** Reason of the model. */
  readonly justification?: string | undefined
}

/** A command and the directory for which it was decided; its `cwd` is the path of that directory without links. */
interface ResolvedCommand extends AttemptCommand {
  readonly directory: WorkingDirectory
}

/** The question before a command runs unconfined. */
const question = (command: ResolvedCommand, { justification, reason }: Why = {}) =>
  ({
    _tag: "Exec",
    callId: command.callId,
    command: command.argv,
    cwd: command.cwd,
    ...(command.directory.named === command.cwd ? {} : { namedCwd: command.directory.named }),
    sandbox: fullAccess,
    parsedCommand: parsedCommand(command.argv),
    ...(reason === undefined ? {} : { reason }),
    ...(justification === undefined ? {} : { justification }),
  }) as const

/** What the shell needs. */
export interface ShellToolOptions {
  readonly attempts: Attempts
  readonly sandbox: Sandbox["Service"]
  /** Resolves a path against an absolute directory. */
  readonly resolve: Path["resolve"]
  /** Resolves an absolute path at this moment. */
  readonly directoryAt: (path: string) => Effect.Effect<WorkingDirectory>
  /** Applies a patch that is written as a command; undefined: the command is no patch. */
  readonly patchOf: (
    argv: ReadonlyArray<string>,
    cwd: string,
    callId: string,
    context: ToolContext,
  ) => Effect.Effect<ToolResult> | undefined
}

const resultOutput = (result: CommandResult): ToolResult => ({ output: modelText(result) })

const execution = (error: CommandNotStarted): ToolResult => ({
  output: `execution error: ${error.message}`,
})

const isSandboxFault = (outcome: Result.Result<CommandResult, CommandNotStarted>) =>
  Result.isFailure(outcome) && outcome.failure.reason === "Sandbox"

const directoryChanged: ToolResult = {
  output:
    "exec command rejected: the working directory changed while the question was open; nothing was run",
}

/** Text of the event that reports a denial; the words are those of the original. */
const denialText = ({ exit, stderr, stdout }: CommandResult): string => {
  const code = exit._tag === "Exited" ? exit.code : -1
  return `Execution failed: sandbox denied exec error, exit code: ${code}, stdout: ${stdout.text}, stderr: ${stderr.text}`
}

/** Takes one call through all its steps; keeps nothing between calls. */
class ShellRun {
  private readonly options: ShellToolOptions

  constructor(options: ShellToolOptions) {
    this.options = options
  }

  /** Decides about a call and runs what is allowed. Never fails: an error is part of the output. */
  run(call: ShellCall.ShellCall, callId: string, context: ToolContext): Effect.Effect<ToolResult> {
    return Effect.gen({ self: this }, function* () {
      const { attempts, directoryAt, patchOf, resolve, sandbox } = this.options
      const { settings } = context
      const cwd = resolve(settings.cwd, call.workdir ?? "")
      const patch = patchOf(call.command, cwd, callId, context)
      if (patch !== undefined) return yield* patch
      const directory = yield* directoryAt(cwd)
      const command = { ...attempts.commandOf(call, callId, directory.path, settings), directory }
      const decision = decideCommand({
        argv: call.command,
        approvalPolicy: policyFor(settings, "sandbox"),
        sandboxPolicy: yield* currentPolicy(context),
        sandbox: yield* sandbox.status,
        isGranted: yield* context.granted(question(command)),
        isEscalated: call.escalated,
      })
      const why = { justification: call.justification }
      switch (decision._tag) {
        case "Reject":
          return refusedCall(decision.output)
        case "Ask":
          return yield* this.runIfApproved(command, { ...why, reason: decision.reason }, context)
        case "Run":
          return yield* this.runConfined(command, decision, why, context)
      }
    })
  }

  /**
   * Runs a line of the user as the sandbox policy says (L15). A person wrote it, so that no approval policy asks about it;
   * what the sandbox cannot do is asked, as for a call of the model.
   */
  runOfUser(line: string, callId: string, context: ToolContext): Effect.Effect<ToolResult> {
    return Effect.gen({ self: this }, function* () {
      const { attempts, directoryAt, sandbox } = this.options
      const { cwd } = context.settings
      const approvalPolicy = policyFor(context.settings, "sandbox")
      const sandboxPolicy = yield* currentPolicy(context)
      const directory = yield* directoryAt(cwd)
      const command = { ...attempts.userCommandOf(line, callId, directory.path), directory }
      const confinement = confines(sandboxPolicy) ? sandboxPolicy : "none"
      const status = yield* sandbox.status
      if (confinement !== "none" && status._tag === "Unavailable") {
        const reason = sandboxMissing(status)
        if (approvalPolicy !== "never")
          return yield* this.runIfApproved(command, { reason }, context)
        const fault = new CommandNotStarted({ reason: "Sandbox", message: reason })
        yield* attempts.refuse(command, fault, context)
        return execution(fault)
      }
      const escalateOnDenial = confinement !== "none" && approvalPolicy === "on-failure"
      const decision = { _tag: "Run", confinement, escalateOnDenial } as const
      return yield* this.runConfined(command, decision, {}, context)
    })
  }

  private runConfined(
    command: ResolvedCommand,
    decision: Extract<CommandDecision, { readonly _tag: "Run" }>,
    why: Why,
    context: ToolContext,
  ): Effect.Effect<ToolResult> {
    return Effect.gen({ self: this }, function* () {
      const outcome = yield* this.options.attempts.run(command, decision.confinement, context)
      if (Result.isFailure(outcome)) {
        const mayAsk = policyFor(context.settings, "sandbox") !== "never"
        return isSandboxFault(outcome) && mayAsk
          ? yield* this.runIfApproved(command, { ...why, reason: outcome.failure.message }, context)
          : execution(outcome.failure)
      }
      return decision.escalateOnDenial && looksDenied(outcome.success)
        ? yield* this.retryIfApproved(command, outcome.success, why, context)
        : resultOutput(outcome.success)
    })
  }

  /** Asks a person, and runs the command unconfined once it is approved. */
  private runIfApproved(
    command: ResolvedCommand,
    why: Why,
    context: ToolContext,
  ): Effect.Effect<ToolResult> {
    return Effect.gen({ self: this }, function* () {
      const refused = yield* requestApproval(context, question(command, why))
      if (refused !== undefined) return { output: `exec command ${refused}` }
      if (yield* this.hasChanged(command)) return directoryChanged
      const outcome = yield* this.options.attempts.run(command, "none", context)
      return Result.isSuccess(outcome) ? resultOutput(outcome.success) : execution(outcome.failure)
    })
  }

  /** The sandbox seems to have denied something: a person may allow another run without it. */
  private retryIfApproved(
    command: ResolvedCommand,
    denied: CommandResult,
    why: Why,
    context: ToolContext,
  ): Effect.Effect<ToolResult> {
    return Effect.gen({ self: this }, function* () {
      yield* context.emit({ type: "background_event", message: denialText(denied) })
      const refused = yield* requestApproval(
        context,
        question(command, { ...why, reason: "command failed; retry without sandbox?" }),
      )
      if (refused !== undefined) return { output: `exec command ${refused}` }
      if (yield* this.hasChanged(command)) return directoryChanged
      yield* context.emit({ type: "background_event", message: "retrying command without sandbox" })
      const outcome = yield* this.options.attempts.run(command, "none", context)
      return Result.isSuccess(outcome)
        ? resultOutput(outcome.success)
        : { output: `retry failed: ${outcome.failure.message}` }
    })
  }

  /** True when the path of the command's directory leads to another directory than when the command was decided. */
  private hasChanged({ directory }: ResolvedCommand): Effect.Effect<boolean> {
    return Effect.map(this.options.directoryAt(directory.path), (now) => !isSame(now, directory))
  }
}

/** Runs lines of the user in the user's shell. Never fails: an error is part of the output. */
export const runUserCommand = (
  options: Omit<ShellToolOptions, "patchOf">,
  context: ToolContext,
): ((line: string, callId: string) => Effect.Effect<ToolResult>) => {
  const shellRun = new ShellRun({ ...options, patchOf: () => undefined })
  return (line, callId) => shellRun.runOfUser(line, callId, context)
}

/**
 * `shell`, also called `container.exec`, and the provider's own `local_shell`. Calls of commands that only read may run
 * concurrently.
 */
export const shellTools = (options: ShellToolOptions): ReadonlyArray<Tool> => {
  const shellRun = new ShellRun(options)
  const shell = functionTool({
    name: "shell",
    description:
      "Runs a program in the working directory and gives you its output and exit code. It starts without a terminal and with no input. Long output is cut in the middle. It may be confined: then writing outside of the working directory and using the network fail.",
    arguments: shellArguments,
    aliases: { timeout: "timeout_ms" },
    isOffered: (settings) => !hasOwnShell(settings),
    isReadOnly: (args) => {
      const call = ShellCall.fromArguments(args)
      return Result.isSuccess(call) && isReading(call.success)
    },
    run: (args, callId, context) => {
      const call = ShellCall.fromArguments(args)
      return Result.isFailure(call)
        ? Effect.succeed(refusedCall(call.failure))
        : shellRun.run(call.success, callId, context)
    },
  })
  const localShell: Tool = {
    name: "local_shell",
    spec: (settings) => (hasOwnShell(settings) ? { type: "local_shell" } : undefined),
    isReadOnly: (call) => {
      const decoded = call.type === "local_shell_call" ? ShellCall.fromLocalShell(call) : undefined
      return decoded !== undefined && Result.isSuccess(decoded) && isReading(decoded.success)
    },
    run: (call, context) => {
      if (call.type !== "local_shell_call") {
        return Effect.succeed(refusedCall("unsupported call: local_shell"))
      }
      const decoded = ShellCall.fromLocalShell(call)
      return Result.isFailure(decoded)
        ? Effect.succeed(refusedCall(decoded.failure))
        : shellRun.run(decoded.success, call.call_id ?? "", context)
    },
  }
  return [shell, { ...shell, name: "container.exec", spec: () => undefined }, localShell]
}

/** The only model family with its own shell tool, which exists in the Responses API only. */
const hasOwnShell = ({ model, provider }: ConversationSettings): boolean =>
  model.startsWith("codex-mini") && provider.wire === "responses"

const isReading = ({ command, escalated }: ShellCall.ShellCall): boolean =>
  !escalated && isKnownSafe(command, { sandboxedReadOnly: false })
