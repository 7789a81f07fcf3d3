/** The command line of `exec`. */
import { parseConversationId } from "@colloquy/protocol/Ids"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import type { Launch } from "../args/Args.ts"
import { ExitCode } from "../terminal/ExitCode.ts"
import { launchOf } from "../terminal/LaunchCommand.ts"
import { textFlag } from "../terminal/TextFlag.ts"
import type { ExecOptions } from "./ExecOptions.ts"

const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const file = (name: string, description: string) =>
  textFlag(name).pipe(Flag.withDescription(description))

const flags = {
  json: flag("json", "Print events as JSON lines instead of a transcript"),
  experimentalJson: flag("experimental-json", "The same as --json"),
  last: flag("last", "Go on with the newest conversation of this directory"),
  image: file("image", "An image for the prompt; repeatable").pipe(
    Flag.withAlias("i"),
    Flag.atLeast(0),
  ),
  outputSchema: Flag.optional(
    file("output-schema", "A file with the JSON Schema that the answer has to match"),
  ),
  outputLastMessage: Flag.optional(
    file("output-last-message", "A file for the last message").pipe(Flag.withAlias("o")),
  ),
  ephemeral: flag("ephemeral", "Store nothing"),
  skipGitRepoCheck: flag("skip-git-repo-check", "Also run outside of a git repository"),
  color: Flag.Literals("color", ["auto", "always", "never"]).pipe(
    Flag.withDescription("Colours of the transcript"),
    Flag.withDefault("auto" as const),
  ),
  dangerouslyBypass: flag(
    "dangerously-bypass-approvals-and-sandbox",
    "Run commands without a sandbox",
  ),
  words: Argument.String("prompt").pipe(
    Argument.withDescription("The prompt, or - for stdin; or: resume ID [PROMPT]"),
    Argument.variadic({ min: 0 }),
  ),
}

const usage = (message: string) => new CliError.ValidationError({ message })

const excluded = (one: string, other: string) => usage(`${one} cannot be used with ${other}`)

/** Fails for a policy by which a person would be asked, who is not there. */
const checkApprovals = Effect.fnUntraced(function* ({ flags = [] }: Launch) {
  const policy = flags.find(({ key }) => key === "approval_policy")
  if (policy === undefined || policy.value === "never") return
  return yield* new CliError.InvalidValue({
    option: "ask-for-approval",
    value: policy.value,
    expected: "Expected never: exec cannot ask",
    kind: "flag",
  })
})

/** The conversation to go on with, and the prompt. */
const readWords = Effect.fnUntraced(function* (words: ReadonlyArray<string>, last: boolean) {
  const isResume = words[0] === "resume"
  const rest = isResume ? words.slice(1) : words
  const resume = last ? ("last" as const) : isResume ? { id: rest[0] ?? "" } : undefined
  if (isResume && !last && rest.length === 0) {
    return yield* usage("resume needs the id of a conversation, or --last")
  }
  const prompts = isResume && !last ? rest.slice(1) : rest
  const [first = ""] = rest
  if (isResume && last && rest.length === 2 && !("problem" in parseConversationId(first))) {
    return yield* excluded("--last", "the id of a conversation")
  }
  if (prompts.length > 1) {
    return yield* usage("the prompt is more than one argument: put the prompt in quotes")
  }
  const [prompt] = prompts
  return {
    ...(resume === undefined ? {} : { resume }),
    ...(prompt === undefined ? {} : { prompt }),
  }
})

/** What the words say. Fails where a conversation to go on with is looked for and nothing is stored. */
const checkedWords = Effect.fnUntraced(function* (given: {
  readonly words: ReadonlyArray<string>
  readonly last: boolean
  readonly ephemeral: boolean
}) {
  const words = yield* readWords(given.words, given.last)
  if (!given.ephemeral || words.resume === undefined) return words
  return yield* excluded("--ephemeral", given.last ? "--last" : "resume")
})

/** The command. */
export const execCommand = Command.make(
  "exec",
  flags,
  Effect.fnUntraced(function* (given) {
    const launch = yield* launchOf
    yield* checkApprovals(launch)
    const { outputLastMessage, outputSchema } = given
    const options: ExecOptions = {
      ...(yield* checkedWords(given)),
      json: given.json || given.experimentalJson,
      images: given.image.flatMap((paths) => paths.split(",")),
      ...(Option.isNone(outputSchema) ? {} : { outputSchema: outputSchema.value }),
      ...(Option.isNone(outputLastMessage) ? {} : { outputLastMessage: outputLastMessage.value }),
      ephemeral: given.ephemeral,
      skipGitRepoCheck: given.skipGitRepoCheck || given.dangerouslyBypass,
      color: given.color,
    }
    const bypass = given.dangerouslyBypass
      ? {
          flags: [
            ...(launch.flags ?? []),
            {
              option: "--dangerously-bypass-approvals-and-sandbox",
              key: "sandbox_mode",
              value: "danger-full-access",
            },
          ],
        }
      : {}
    const command = yield* Effect.promise(() => import("./ExecCommand.ts"))
    const code = yield* Effect.promise(() => command.run(options, { ...launch, ...bypass }))
    yield* (yield* ExitCode).set(code)
  }),
).pipe(Command.withDescription("Run one turn and end: for scripts and pipelines"))
