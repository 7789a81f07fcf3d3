/** `initialized`: nothing waits for it (§3.1). */
import * as Effect from "effect/Effect"

export const initialized = Effect.logDebug("the client is ready")
