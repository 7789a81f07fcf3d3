/** `account/login/cancel`: ends a login attempt; its end is notified after the response (L2). */
import { parseConversationId } from "@colloquy/protocol/Ids"
import type { AccountLoginCancel } from "@colloquy/protocol/thread/Accounts"
import * as Effect from "effect/Effect"
import { invalid } from "../../../app/AppErrors.ts"
import { Auth } from "../../../app/ports/AuthPort.ts"
import { noticesKey } from "../../../app/subscriptions/ConnectionNotices.ts"
import type { HostHandler } from "../HostCall.ts"

/** Handler of the method. */
export const accountLoginCancel: HostHandler<typeof AccountLoginCancel> = Effect.fnUntraced(
  function* ({ loginId }, { hold }) {
    // Any UUID: they are written as the ids of conversations are.
    if ("problem" in parseConversationId(loginId)) {
      return yield* invalid(`invalid login id: ${loginId}`)
    }
    const auth = yield* Auth
    hold(noticesKey)
    return yield* auth.cancelLogin(loginId).pipe(
      Effect.as({ status: "canceled" } as const),
      Effect.catch(() => Effect.succeed({ status: "notFound" } as const)),
    )
  },
)
