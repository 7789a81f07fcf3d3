/** `notifications/initialized`: nothing waits for it. */
import * as Effect from "effect/Effect"

export const notificationsInitialized = () => Effect.logDebug("the client is ready")
