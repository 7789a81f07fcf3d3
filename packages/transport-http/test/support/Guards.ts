/** The services of a guard for tests. */
import { RouteTable } from "../../src/guard/Guard.ts"
import { Limits } from "../../src/guard/Limits.ts"
import { knownToken, Principals } from "../../src/guard/Principals.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Lets every request pass on behalf of the principal that its header `x-principal` names, or of the local user. */
export const namedPrincipals = Layer.mergeAll(
  Layer.succeed(Principals, {
    identify: (headers) => Effect.succeed(headers["x-principal"] ?? "local"),
  }),
  Limits.layer(),
  RouteTable.layer,
)

/** Knows the tokens of two principals. */
export const knownTokens = Principals.layerTokens([
  knownToken("secret-of-ada", "ada"),
  knownToken("secret-of-bob", "bob"),
])
