/** `loginChatGpt`: answered as soon as the login was started. Its end is notified, whatever it is. */
import { type LoginChatGpt, LoginChatGptComplete } from "@colloquy/protocol/app/Account"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AppHandler } from "../AppCall.ts"
import type { AppConnection } from "../AppConnection.ts"
import { internal } from "../AppErrors.ts"
import { Auth, type Login } from "../ports/AuthPort.ts"
import { noticesKey } from "../subscriptions/ConnectionNotices.ts"

/** Notifies the requesting client of the end of the login, and all connections if it succeeded. */
const follow = Effect.fnUntraced(function* (
  auth: Auth["Service"],
  { completed, loginId }: Login,
  { broadcast, notices }: AppConnection,
): Effect.fn.Return<void> {
  const ended = yield* Effect.result(completed)
  const result = Result.isSuccess(ended)
    ? { loginId, success: true }
    : { loginId, success: false, error: ended.failure.message }
  notices.put(LoginChatGptComplete, result, "each")
  if (result.success) yield* broadcast.authChanged(auth, { authMethod: "chatgpt" })
})

/** Starts a login. One whose request was cancelled meanwhile is ended, because no client learns its id. */
const started = (auth: Auth["Service"]): Effect.Effect<Login, JsonRpcError> =>
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

/** Handler of the method. */
export const loginChatGpt: AppHandler<typeof LoginChatGpt> = Effect.fnUntraced(function* (
  _,
  { connection, hold },
) {
  const auth = yield* Auth
  hold(noticesKey)
  const login = yield* started(auth)
  // The attempt may outlive the connection. It ends in any case, and the other connections are notified.
  yield* Effect.forkDetach(follow(auth, login, connection))
  return { loginId: login.loginId, authUrl: login.authUrl }
})
