/**
 * The request of a call of the shell, in each of the forms that models use: `shell`, `container.exec`, `local_shell`.
 */
import { jsonSchemaOf } from "@colloquy/protocol/JsonSchema"
import { argumentFaults } from "@colloquy/protocol/mcp/ToolArguments"
import type { LocalShellCallItem } from "@colloquy/protocol/ResponseItem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** A decoded command about which nothing has been decided yet. */
export interface ShellCall {
  readonly command: readonly [string, ...ReadonlyArray<string>]
  /** Relative to the working directory of the conversation; absent: that directory. */
  readonly workdir?: string
  /** As requested by the model; absent: the default of the tool. */
  readonly timeoutMs?: number
  /** True: the model asks to run it outside the sandbox. */
  readonly escalated: boolean
  /** The reason, in the model's words. */
  readonly justification?: string
}

/** The arguments of `shell` as the model writes them. The descriptions are what the model reads. */
export const ShellArguments = Schema.Struct({
  command: Schema.Array(Schema.String).annotate({
    description:
      'The program and its arguments, word by word. No shell reads them; for one, write ["bash", "-lc", "…"].',
  }),
  workdir: Schema.optionalKey(
    Schema.String.annotate({
      description: "Directory to run in, absolute or from the working directory.",
    }),
  ),
  timeout_ms: Schema.optionalKey(
    Schema.Finite.annotate({
      description: "Milliseconds until the command is stopped; 10000 where it is not given.",
    }),
  ),
  with_escalated_permissions: Schema.optionalKey(
    Schema.Boolean.annotate({
      description:
        "True asks the person to let this command run outside the sandbox. Only where the approval policy is on-request.",
    }),
  ),
  justification: Schema.optionalKey(
    Schema.String.annotate({
      description:
        "With escalated permissions: one sentence for the person on why they are needed.",
    }),
  ),
})

/** Longest timeout: a number that a model misplaced by three digits must not keep a turn running for days. */
const maxTimeoutMs = 24 * 60 * 60 * 1000

const fault = (text: string) => Result.fail(`failed to parse function arguments: ${text}`)

/** Checks the arguments of `shell` beyond their types; the failure is the text that the model reads. */
export const fromArguments = (
  args: typeof ShellArguments.Type,
): Result.Result<ShellCall, string> => {
  const [program, ...words] = args.command
  if (program === undefined || program === "") {
    return fault("`command` is empty, expected a program and its arguments (field `command`)")
  }
  if ([...args.command, args.workdir ?? ""].some((word) => word.includes("\0"))) {
    return fault("a word contains a NUL byte, which no program can be given (field `command`)")
  }
  const timeoutMs = args.timeout_ms
  if (timeoutMs !== undefined && !(timeoutMs > 0 && timeoutMs <= maxTimeoutMs)) {
    return fault(
      `\`timeout_ms\` is ${timeoutMs}, expected a number above 0 and up to ${maxTimeoutMs} (field \`timeout_ms\`)`,
    )
  }
  return Result.succeed({
    command: [program, ...words],
    escalated: args.with_escalated_permissions ?? false,
    ...(args.workdir === undefined ? {} : { workdir: args.workdir }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(args.justification === undefined ? {} : { justification: args.justification }),
  })
}

const LocalAction = Schema.Struct({
  command: Schema.Array(Schema.String),
  timeout_ms: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  working_directory: Schema.optionalKey(Schema.NullOr(Schema.String)),
})
const decodeLocalAction = Schema.decodeUnknownResult(LocalAction, { errors: "all" })

/** The call of a provider's own shell tool; its environment and user are ignored. */
export const fromLocalShell = (call: LocalShellCallItem): Result.Result<ShellCall, string> => {
  const action = decodeLocalAction(call.action)
  if (Result.isFailure(action)) {
    return fault(argumentFaults(jsonSchemaOf(LocalAction), action.failure, call.action))
  }
  const { command, timeout_ms, working_directory } = action.success
  return fromArguments({
    command,
    ...(working_directory == null ? {} : { workdir: working_directory }),
    ...(timeout_ms == null ? {} : { timeout_ms }),
  })
}
