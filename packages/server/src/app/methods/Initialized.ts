/** `initialized`: the client is ready. Only logged: requests are served once `initialize` was answered. */
import * as Effect from "effect/Effect"

/** Handler of the notification. */
export const initialized = Effect.logDebug("the client is ready")
