/** The handlers of resources, prompts, completion and the log of one connection. */
import { LoggingSetLevel } from "@colloquy/protocol/mcp/Logging"
import { CompletionComplete, PromptsGet, PromptsList } from "@colloquy/protocol/mcp/Prompts"
import {
  ResourcesList,
  ResourcesRead,
  ResourcesSubscribe,
  ResourcesTemplatesList,
  ResourcesUnsubscribe,
} from "@colloquy/protocol/mcp/Resources"
import * as Effect from "effect/Effect"
import type { ListName } from "../../features/CatalogChanges.ts"
import { completionComplete } from "../methods/CompletionComplete.ts"
import { loggingSetLevel } from "../methods/LoggingSetLevel.ts"
import { promptsGet } from "../methods/PromptsGet.ts"
import { promptsList } from "../methods/PromptsList.ts"
import type { CoreHandler } from "../RequestContext.ts"
import { resourcesList } from "../methods/ResourcesList.ts"
import { resourcesRead } from "../methods/ResourcesRead.ts"
import { resourcesSubscribe } from "../methods/ResourcesSubscribe.ts"
import { resourcesTemplatesList } from "../methods/ResourcesTemplatesList.ts"
import { resourcesUnsubscribe } from "../methods/ResourcesUnsubscribe.ts"
import type { ConnectionCatalog } from "./ConnectionCatalog.ts"
import type { Session } from "../Session.ts"
import type { Subscriptions } from "./Subscriptions.ts"

/** The handler of a list, after whose first response the client is notified when the list changes. */
export const notifiedOfChanges =
  (subscriptions: Subscriptions, list: ListName) =>
  <P, R>(handler: CoreHandler<P, R>): CoreHandler<P, R> =>
  (params, context) =>
    Effect.tap(handler(params, context), () => subscriptions.watchList(list, context))

/** The handlers by method name. */
export const featureHandlers = (
  served: ConnectionCatalog,
  session: Session,
  subscriptions: Subscriptions,
) => {
  const resources = notifiedOfChanges(subscriptions, "resources")
  return {
    [ResourcesList._tag]: resources(resourcesList(served)),
    [ResourcesTemplatesList._tag]: resources(resourcesTemplatesList(served)),
    [ResourcesRead._tag]: resourcesRead(served),
    [ResourcesSubscribe._tag]: resourcesSubscribe(subscriptions),
    [ResourcesUnsubscribe._tag]: resourcesUnsubscribe(subscriptions),
    [PromptsList._tag]: notifiedOfChanges(subscriptions, "prompts")(promptsList(served)),
    [PromptsGet._tag]: promptsGet(served),
    [CompletionComplete._tag]: completionComplete(served),
    [LoggingSetLevel._tag]: loggingSetLevel(session),
  }
}
