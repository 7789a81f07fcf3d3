/** The command lines of `chat` and `sessions resume`: a conversation in the terminal. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { ExitCode } from "../ExitCode.ts"
import { launchOf } from "../LaunchCommand.ts"
import * as StderrLog from "../../log/StderrLog.ts"
import { withServices } from "../WithServices.ts"

import type { ChatOptions } from "./ChatOptions.ts"
import { Notices } from "./Notices.ts"

const prompt = Argument.optional(
  Argument.String("prompt").pipe(Argument.withDescription("The first message")),
)

const chat = Effect.fnUntraced(function* (options: ChatOptions) {
  const launch = yield* launchOf
  const { runChat } = yield* Effect.promise(() => import("./Chat.ts"))
  const notices = new Notices(StderrLog.stderrLines())
  const code = yield* withServices(
    launch,
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
  { prompt },
  Effect.fnUntraced(function* (given) {
    yield* chat(promptOf(given.prompt))
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
  },
  Effect.fnUntraced(function* (given) {
    const resume = Option.isNone(given.id) ? ("newest" as const) : { id: given.id.value }
    yield* chat({ resume, ...promptOf(given.prompt) })
  }),
).pipe(Command.withDescription("Go on with a conversation in the terminal"))
