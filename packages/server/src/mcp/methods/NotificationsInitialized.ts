/** `notifications/initialized`: writes a log message only, because nothing waits for this notification. */
import * as Effect from "effect/Effect"

/** The handler of `notifications/initialized`. */
export const notificationsInitialized = () => Effect.logDebug("the client is ready")
