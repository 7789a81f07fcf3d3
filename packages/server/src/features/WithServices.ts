/**
 * Definitions without requirements: the services that a handler needs are provided from the context in which it was
 * registered. Never changes what a handler does.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Complete } from "./Completion.ts"
import type { Prompt } from "./Prompt.ts"
import type { Resource, ResourceTemplate, Watch } from "./Resource.ts"
import type { Tool } from "./Tool.ts"

/** The tool with its services provided. */
export const toolWithServices = <R>(
  { prepare, ...tool }: Tool<R>,
  services: Context.Context<R>,
): Tool => ({
  ...tool,
  invoke: (args, context, prepared) =>
    Effect.provideContext(tool.invoke(args, context, prepared), services),
  ...(prepare === undefined
    ? {}
    : {
        prepare: (args, context) => Effect.provideContext(prepare(args, context), services),
      }),
})

/** The watch keeps the scope of its subscription, although the provided services may contain another scope. */
const watching = <R>(
  watch: Watch<unknown, R> | undefined,
  services: Context.Context<R>,
): { readonly watch?: Watch<unknown, never> } =>
  watch === undefined
    ? {}
    : {
        watch: (request) =>
          Effect.flatMap(Effect.scope, (scope) =>
            Effect.provideContext(watch(request), Context.add(services, Scope.Scope, scope)),
          ),
      }

const completing =
  <R>(complete: Complete<unknown, R>, services: Context.Context<R>): Complete<unknown, never> =>
  (request) =>
    Effect.provideContext(complete(request), services)

/** The resource with its services provided. */
export const resourceWithServices = <R>(
  { watch, ...resource }: Resource<R>,
  services: Context.Context<R>,
): Resource => ({
  ...resource,
  read: (request) => Effect.provideContext(resource.read(request), services),
  ...watching(watch, services),
})

/** The resource template with its services provided. */
export const templateWithServices = <R>(
  { complete, list, watch, ...template }: ResourceTemplate<R>,
  services: Context.Context<R>,
): ResourceTemplate => ({
  ...template,
  read: (request) => Effect.provideContext(template.read(request), services),
  ...watching(watch, services),
  ...(list === undefined
    ? {}
    : { list: (request) => Effect.provideContext(list(request), services) }),
  ...(complete === undefined
    ? {}
    : {
        complete: Object.fromEntries(
          Object.entries(complete).map(([name, one]) => [name, completing(one, services)]),
        ),
      }),
})

/** The prompt with its services provided. */
export const promptWithServices = <R>(prompt: Prompt<R>, services: Context.Context<R>): Prompt => ({
  ...prompt,
  arguments: prompt.arguments.map(({ complete, ...argument }) => ({
    ...argument,
    ...(complete === undefined ? {} : { complete: completing(complete, services) }),
  })),
  get: (args, context) => Effect.provideContext(prompt.get(args, context), services),
})
