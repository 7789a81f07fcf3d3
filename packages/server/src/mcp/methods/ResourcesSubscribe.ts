/**
 * `resources/subscribe`: notifies the client of changes of the resource from now on. A second request has no effect.
 */
import type { ResourcesSubscribe as ResourcesSubscribeMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { CoreHandler } from "../RequestContext.ts"
import type { Subscriptions } from "../catalog/Subscriptions.ts"

type Method = typeof ResourcesSubscribeMethod

/** The handler of `resources/subscribe` of one connection. */
export const resourcesSubscribe =
  (subscriptions: Subscriptions): CoreHandler<Params<Method>, object> =>
  ({ uri }, context) =>
    Effect.as(subscriptions.subscribe(uri, context), {})
