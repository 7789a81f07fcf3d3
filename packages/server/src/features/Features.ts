/**
 * The tools, resources and prompts that an embedder adds to the server, shared by all its connections. Bounded; what
 * is added or removed while the server runs is told to the clients. Names are unique, and those of the server's own
 * tools are taken.
 */
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type Catalog, type RegisteredTemplate, watcher } from "./Catalog.ts"
import { type ListName, make as makeNotices } from "./Notices.ts"
import type { Prompt } from "./Prompt.ts"
import type { Resource, ResourceTemplate } from "./Resource.ts"
import { type MutableRegistry, makeRegistry } from "./Registry.ts"
import type { Tool } from "./Tool.ts"
import {
  promptWithServices,
  resourceWithServices,
  templateWithServices,
  toolWithServices,
} from "./WithServices.ts"
import { parse } from "./UriTemplate.ts"
import * as Shared from "../internal/Shared.ts"

type Kind = "tool" | "resource" | "resource template" | "prompt"

/** It was not registered; nothing has changed. */
export class FeatureRefused extends Data.TaggedError("FeatureRefused")<{
  readonly kind: Kind
  /** Its name, or its address. */
  readonly name: string
  readonly reason: string
}> {
  override get message() {
    return `${this.kind} ${JSON.stringify(this.name)}: ${this.reason}`
  }
}

export interface FeatureLimits {
  /** Of each kind. Default 10,000. */
  readonly maxPerKind?: number
}

export interface Definitions<R> {
  readonly tools?: ReadonlyArray<Tool<R>>
  readonly resources?: ReadonlyArray<Resource<R>>
  readonly resourceTemplates?: ReadonlyArray<ResourceTemplate<R>>
  readonly prompts?: ReadonlyArray<Prompt<R>>
}

export interface Features {
  /** What a definition needs of services it gets of those at hand when it is added. */
  readonly addTool: <R>(tool: Tool<R>) => Effect.Effect<void, FeatureRefused, R>
  readonly addResource: <R>(resource: Resource<R>) => Effect.Effect<void, FeatureRefused, R>
  readonly addResourceTemplate: <R>(
    template: ResourceTemplate<R>,
  ) => Effect.Effect<void, FeatureRefused, R>
  readonly addPrompt: <R>(prompt: Prompt<R>) => Effect.Effect<void, FeatureRefused, R>
  /** False when there was none. Calls that run go on. */
  readonly removeTool: (name: string) => Effect.Effect<boolean>
  readonly removeResource: (uri: string) => Effect.Effect<boolean>
  readonly removeResourceTemplate: (uriTemplate: string) => Effect.Effect<boolean>
  readonly removePrompt: (name: string) => Effect.Effect<boolean>
  /** Tells those who subscribe to the address that its contents are others now. */
  readonly updated: (uri: string) => Effect.Effect<void>
  readonly catalog: Catalog
}

const names = /^[A-Za-z0-9_.-]{1,128}$/
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:/

const ownTools: ReadonlySet<string> = new Set(serverTools.map(({ name }) => name))

const nameProblem = (name: string) =>
  names.test(name) ? undefined : "expected 1 to 128 of the characters A-Z a-z 0-9 _ . -"

const toolProblem = (tool: Tool<unknown>) =>
  nameProblem(tool.name) ??
  (ownTools.has(tool.name) ? "the server has a tool of that name" : tool.problem)

const promptProblem = ({ arguments: args, name }: Prompt<unknown>) =>
  nameProblem(name) ??
  (new Set(args.map((one) => one.name)).size < args.length
    ? "an argument is there twice"
    : undefined)

const refuse = (kind: Kind, name: string, reason = "") =>
  Effect.fail(new FeatureRefused({ kind, name, reason }))

/** A registry with these definitions. Give it to `McpServer.serve`, and add more whenever you like. */
export const make = <R = never>(
  definitions: Definitions<R> = {},
  limits: FeatureLimits = {},
): Effect.Effect<Features, FeatureRefused, R> =>
  // Watches end with the subscriptions that use them, so the table of watches needs no end of its own.
  Effect.flatMap(Scope.provide(Shared.make<void, unknown>(), Scope.makeUnsafe()), (watches) =>
    register(definitions, limits, watches),
  )

const register = <R>(
  definitions: Definitions<R>,
  limits: FeatureLimits,
  watches: Shared.Shared<void, unknown>,
): Effect.Effect<Features, FeatureRefused, R> => {
  const notices = makeNotices()
  const maxPerKind = limits.maxPerKind ?? 10_000
  const tools = makeRegistry<Tool>()
  const resources = makeRegistry<Resource>()
  const templates = makeRegistry<RegisteredTemplate>()
  const prompts = makeRegistry<Prompt>()

  const put = <A>(
    at: MutableRegistry<A>,
    kind: Kind,
    name: string,
    value: A,
    list: ListName,
  ): Effect.Effect<void, FeatureRefused> =>
    Effect.suspend(() => {
      const full = at.size >= maxPerKind ? `there are ${maxPerKind} already, the limit` : undefined
      const reason = at.get(name) === undefined ? full : "there is one already"
      if (reason !== undefined) return refuse(kind, name, reason)
      at.put(name, value)
      notices.listChanged(list)
      return Effect.void
    })

  const take = <A>(at: MutableRegistry<A>, name: string, list: ListName) =>
    Effect.sync(() => {
      const taken = at.take(name)
      if (taken) notices.listChanged(list)
      return taken
    })

  const features: Features = {
    addTool: <R>(tool: Tool<R>) =>
      Effect.flatMap(Effect.context<R>(), (services) =>
        toolProblem(tool) === undefined
          ? put(tools, "tool", tool.name, toolWithServices(tool, services), "tools")
          : refuse("tool", tool.name, toolProblem(tool)),
      ),
    addResource: <R>(one: Resource<R>) =>
      Effect.flatMap(Effect.context<R>(), (services) =>
        absolute.test(one.uri)
          ? put(resources, "resource", one.uri, resourceWithServices(one, services), "resources")
          : refuse("resource", one.uri, "expected an address: `scheme:...`"),
      ),
    addResourceTemplate: <R>(one: ResourceTemplate<R>) =>
      Effect.flatMap(Effect.context<R>(), (services) => {
        const kind = "resource template"
        const name = one.uriTemplate
        const form = parse(name)
        if (form._tag === "Failure") return refuse(kind, name, form.failure)
        const ready = { ...templateWithServices(one, services), form: form.success }
        return put(templates, kind, name, ready, "resources")
      }),
    addPrompt: <R>(prompt: Prompt<R>) =>
      Effect.flatMap(Effect.context<R>(), (services) =>
        promptProblem(prompt) === undefined
          ? put(prompts, "prompt", prompt.name, promptWithServices(prompt, services), "prompts")
          : refuse("prompt", prompt.name, promptProblem(prompt)),
      ),
    removeTool: (name) => take(tools, name, "tools"),
    removeResource: (uri) => take(resources, uri, "resources"),
    removeResourceTemplate: (uriTemplate) => take(templates, uriTemplate, "resources"),
    removePrompt: (name) => take(prompts, name, "prompts"),
    updated: (uri) => Effect.sync(() => notices.updated(uri)),
    catalog: {
      tools,
      resources,
      templates,
      prompts,
      notices,
      watch: watcher({ resources, templates, notices }, watches),
    },
  }

  return Effect.gen(function* () {
    for (const tool of definitions.tools ?? []) yield* features.addTool(tool)
    for (const resource of definitions.resources ?? []) yield* features.addResource(resource)
    for (const template of definitions.resourceTemplates ?? []) {
      yield* features.addResourceTemplate(template)
    }
    for (const prompt of definitions.prompts ?? []) yield* features.addPrompt(prompt)
    return features
  })
}
