/** `ping`: responds with an empty result, which shows that the server works. */
import * as Effect from "effect/Effect"

/** The handler of `ping`. */
export const ping = () => Effect.succeed({})
