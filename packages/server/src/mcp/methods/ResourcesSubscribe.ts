/** `resources/subscribe`: tells the client from now on when that resource changes. Twice is as once. */
import type { ResourcesSubscribe as ResourcesSubscribeMethod } from "@colloquy/protocol/mcp/Resources"
import type { Params } from "@colloquy/protocol/Method"
import * as Effect from "effect/Effect"
import type { CoreHandler } from "../RequestContext.ts"
import type { Subscriptions } from "../catalog/Subscriptions.ts"

type Method = typeof ResourcesSubscribeMethod

export const resourcesSubscribe =
  (subscriptions: Subscriptions): CoreHandler<Params<Method>, object> =>
  ({ uri }, context) =>
    Effect.as(subscriptions.subscribe(uri, context), {})
