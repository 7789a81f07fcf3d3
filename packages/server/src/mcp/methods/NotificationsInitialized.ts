/** `notifications/initialized`: only logged, because nothing waits for it. */
import * as Effect from "effect/Effect"

/** The handler of `notifications/initialized`. */
export const notificationsInitialized = () => Effect.logDebug("the client is ready")
