/** `loginChatGpt` (§3.10): answered when the login has begun; its end is told, whatever it is. */
import { type LoginChatGpt, LoginChatGptComplete } from "@colloquy/protocol/app/Account"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AppHandler } from "../AppCall.ts"
import type { AppConnection } from "../AppConnection.ts"
import { internal } from "../AppErrors.ts"
import { Auth, type Login } from "../ports/AuthPort.ts"
import { answerFirst } from "../subscriptions/TellAfter.ts"

/** Who asked is told what became of it, everybody who is logged in now. */
const follow = Effect.fnUntraced(function* (
  auth: Auth["Service"],
  { completed, loginId }: Login,
  { audience, notices }: AppConnection,
): Effect.fn.Return<void> {
  const ended = yield* Effect.result(completed)
  const told = Result.isSuccess(ended)
    ? { loginId, success: true }
    : { loginId, success: false, error: ended.failure.message }
  notices.put(LoginChatGptComplete, told, "each")
  if (told.success) yield* audience.authChanged(auth, { authMethod: "chatgpt" })
})

/** Nobody will know of one that begins when its request was taken back: it is ended. */
const begun = (auth: Auth["Service"]): Effect.Effect<Login, JsonRpcError> =>
  Effect.uninterruptibleMask((restore) =>
    auth.loginChatGpt.pipe(
      Effect.mapError(({ message }) => internal(`failed to start login server: ${message}`)),
      Effect.tap(({ loginId }) =>
        Effect.onInterrupt(restore(Effect.yieldNow), () =>
          Effect.catch(auth.cancelLogin(loginId), () => Effect.logDebug("the login has ended")),
        ),
      ),
    ),
  )

export const loginChatGpt: AppHandler<typeof LoginChatGpt> = Effect.fnUntraced(function* (_, call) {
  const auth = yield* Auth
  answerFirst(call)
  const login = yield* begun(auth)
  // The attempt outlives the connection, and has an end: the others are told of it all the same.
  yield* Effect.forkDetach(follow(auth, login, call.connection))
  return { loginId: login.loginId, authUrl: login.authUrl }
})
