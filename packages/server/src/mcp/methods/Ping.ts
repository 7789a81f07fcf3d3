/** `ping`: the answer is that there is one. */
import * as Effect from "effect/Effect"

export const ping = () => Effect.succeed({})
