/** `account/login/start`: stores a key, or starts a login in the browser, whose end is notified to all connections. */
import {
  AccountLoginCompleted,
  type AccountLoginStart,
  AccountUpdated,
} from "@colloquy/protocol/thread/Accounts"
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import type { Params } from "@colloquy/protocol/Method"
import { unsupportedLogin } from "@colloquy/protocol/thread/Unsupported"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { internal, invalid } from "../../../app/AppErrors.ts"
import { Auth, type AuthMethod, type Login } from "../../../app/ports/AuthPort.ts"
import { noticesKey } from "../../../app/subscriptions/ConnectionNotices.ts"
import type { HostCall, HostHandler } from "../HostCall.ts"

type AuthService = Auth["Service"]
type Ended = Pick<Params<typeof AccountLoginCompleted>, "loginId" | "success" | "error">

const ended = (auth: AuthService, method: AuthMethod, end: Ended, call: HostCall) => {
  const { connection, notifyAll } = call
  notifyAll(AccountLoginCompleted, { ...end, onboardingEntrypoint: null })
  if (!end.success) return Effect.void
  notifyAll(AccountUpdated, { authMode: method, planType: null })
  return connection.broadcast.authChanged(auth, { authMethod: method })
}

const follow = (auth: AuthService, { completed, loginId }: Login, call: HostCall) =>
  Effect.flatMap(Effect.result(completed), (end) =>
    ended(
      auth,
      "chatgpt",
      Result.isSuccess(end)
        ? { loginId, success: true, error: null }
        : { loginId, success: false, error: end.failure.message },
      call,
    ),
  )

/** Starts a login. One whose request was cancelled meanwhile is ended, because no client learns its id. */
const started = (auth: AuthService): Effect.Effect<Login, JsonRpcError> =>
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
export const accountLoginStart: HostHandler<typeof AccountLoginStart> = Effect.fnUntraced(
  function* (params, call) {
    const auth = yield* Auth
    call.hold(noticesKey)
    switch (params.type) {
      case "apiKey": {
        yield* Effect.mapError(auth.loginApiKey(Redacted.make(params.apiKey)), ({ message }) =>
          internal(`failed to save api key: ${message}`),
        )
        yield* ended(auth, "apikey", { loginId: null, success: true, error: null }, call)
        return { type: "apiKey" }
      }
      case "chatgpt": {
        const login = yield* started(auth)
        // The attempt may outlive the connection. It ends in any case, and the other connections are notified.
        yield* Effect.forkDetach(follow(auth, login, call))
        return { type: "chatgpt", loginId: login.loginId, authUrl: login.authUrl }
      }
      case "chatgptDeviceCode":
        return yield* invalid(
          `a login of type \`${params.type}\` is not supported: ${unsupportedLogin.reason}`,
        )
    }
  },
)
