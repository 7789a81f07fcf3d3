/** The command lines of `chat` and `sessions resume`: a conversation in the terminal. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { AskForApproval } from "@colloquy/protocol/Policy"
import { ExitCode } from "../ExitCode.ts"
import { launchOf } from "../LaunchCommand.ts"
import * as StderrLog from "../../log/StderrLog.ts"
import { withServices } from "../WithServices.ts"

import type { ChatOptions } from "./ChatOptions.ts"
import { Notices } from "./Notices.ts"

const approvals = Flag.optional(
  Flag.Literals("ask-for-approval", AskForApproval.literals).pipe(
    Flag.withAlias("a"),
    Flag.withDescription("When to ask before a command or a change"),
  ),
)

const prompt = Argument.optional(
  Argument.String("prompt").pipe(Argument.withDescription("The first message")),
)

const chat = Effect.fnUntraced(function* (
  options: ChatOptions,
  policy: Option.Option<(typeof AskForApproval)["Type"]>,
) {
  const given = yield* launchOf
  const { runChat } = yield* Effect.promise(() => import("./Chat.ts"))
  const notices = new Notices(StderrLog.stderrLines())
  const flags = Option.isNone(policy)
    ? {}
    : {
        flags: [
          ...(given.flags ?? []),
          { option: "--ask-for-approval", key: "approval_policy", value: policy.value },
        ],
      }
  const code = yield* withServices(
    { ...given, ...flags },
    (loaded) => runChat(options, loaded, notices),
    notices.line,
  )
  yield* (yield* ExitCode).set(code)
})

const promptOf = (given: Option.Option<string>) =>
  Option.isNone(given) ? {} : { prompt: given.value }

/** Starts a conversation. */
export const chatCommand = Command.make(
  "chat",
  { prompt, approvals },
  Effect.fnUntraced(function* (given) {
    yield* chat(promptOf(given.prompt), given.approvals)
  }),
).pipe(Command.withDescription("Hold a conversation in the terminal"))

/** Goes on with a stored conversation. */
export const resumeCommand = Command.make(
  "resume",
  {
    id: Argument.optional(
      Argument.String("id").pipe(
        Argument.withDescription(
          "Id or name of a conversation; default: the newest of this directory",
        ),
      ),
    ),
    prompt,
    approvals,
  },
  Effect.fnUntraced(function* (given) {
    const resume = Option.isNone(given.id) ? ("newest" as const) : { id: given.id.value }
    yield* chat({ resume, ...promptOf(given.prompt) }, given.approvals)
  }),
).pipe(Command.withDescription("Go on with a conversation in the terminal"))
