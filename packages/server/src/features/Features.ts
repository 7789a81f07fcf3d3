/**
 * The tools, resources and prompts that the embedding program adds to the server, shared by all its connections. Bounded
 * in number. Clients are notified of what is added or removed while the server runs. Names are unique; a name of the
 * server's own tools is rejected.
 */
import { serverTools } from "@colloquy/protocol/mcp/ServerTools"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type Catalog, type RegisteredTemplate, watcher } from "./Catalog.ts"
import { type ListName, make as makeChanges, type CatalogChanges } from "./CatalogChanges.ts"
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

/** A definition was rejected; the registry is unchanged. */
export class FeatureRefused extends Data.TaggedError("FeatureRefused")<{
  readonly kind: Kind
  /** The feature's name, URI or `uriTemplate`. */
  readonly name: string
  readonly reason: string
}> {
  override get message() {
    return `${this.kind} ${JSON.stringify(this.name)}: ${this.reason}`
  }
}

/** Bounds of a registry of features. */
export interface FeatureLimits {
  /** Features of each kind. Default 10,000, more than any client reads. */
  readonly maxPerKind?: number
}

/** The features to register at first, made with `tool`, `resource`, `resourceTemplate` and `prompt`. */
export interface Definitions<R> {
  readonly tools?: ReadonlyArray<Tool<R>>
  readonly resources?: ReadonlyArray<Resource<R>>
  readonly resourceTemplates?: ReadonlyArray<ResourceTemplate<R>>
  readonly prompts?: ReadonlyArray<Prompt<R>>
}

/**
 * The registry of the embedding program's features. A function that adds a feature fails, and changes nothing, when the
 * definition is invalid, its name is in use or the registry is full. The handlers of a feature get the services of the
 * context in which it was added.
 */
export interface Features {
  readonly addTool: <R>(tool: Tool<R>) => Effect.Effect<void, FeatureRefused, R>
  readonly addResource: <R>(resource: Resource<R>) => Effect.Effect<void, FeatureRefused, R>
  readonly addResourceTemplate: <R>(
    template: ResourceTemplate<R>,
  ) => Effect.Effect<void, FeatureRefused, R>
  readonly addPrompt: <R>(prompt: Prompt<R>) => Effect.Effect<void, FeatureRefused, R>
  /** Removes the tool; false when there was none. Running calls continue. */
  readonly removeTool: (name: string) => Effect.Effect<boolean>
  /** Removes the resource; false when there was none. */
  readonly removeResource: (uri: string) => Effect.Effect<boolean>
  /** Removes the template; false when there was none. */
  readonly removeResourceTemplate: (uriTemplate: string) => Effect.Effect<boolean>
  /** Removes the prompt; false when there was none. */
  readonly removePrompt: (name: string) => Effect.Effect<boolean>
  /** Notifies the clients that subscribe to the URI that its contents have changed. */
  readonly updated: (uri: string) => Effect.Effect<void>
  /** The features as the server reads them. */
  readonly catalog: Catalog
}

const names = /^[A-Za-z0-9_.-]{1,128}$/
const absolute = /^[A-Za-z][A-Za-z0-9+.-]*:/

const ownTools: ReadonlySet<string> = new Set(serverTools.map(({ name }) => name))

const nameProblem = (name: string) =>
  names.test(name) ? undefined : "expected 1 to 128 of the characters A-Z a-z 0-9 _ . -"

const toolProblem = (tool: Tool<unknown>) =>
  nameProblem(tool.name) ??
  (ownTools.has(tool.name) ? "the name of a tool of the server" : tool.problem)

const promptProblem = ({ arguments: args, name }: Prompt<unknown>) =>
  nameProblem(name) ??
  (new Set(args.map((one) => one.name)).size < args.length
    ? "the same argument occurs twice"
    : undefined)

/** The entries of one kind, with the list that changes when one is added or removed. */
class Entries<A> {
  readonly registry: MutableRegistry<A> = makeRegistry<A>()
  private readonly kind: Kind
  private readonly list: ListName
  private readonly changes: CatalogChanges
  private readonly max: number

  constructor(kind: Kind, list: ListName, changes: CatalogChanges, max: number) {
    this.kind = kind
    this.list = list
    this.changes = changes
    this.max = max
  }

  reject(name: string, reason: string): Effect.Effect<never, FeatureRefused> {
    return Effect.fail(new FeatureRefused({ kind: this.kind, name, reason }))
  }

  add(name: string, value: A): Effect.Effect<void, FeatureRefused> {
    return Effect.suspend(() => {
      if (this.registry.get(name) !== undefined) return this.reject(name, "registered already")
      if (this.registry.size >= this.max) return this.reject(name, `the limit is ${this.max}`)
      this.registry.add(name, value)
      this.changes.listChanged(this.list)
      return Effect.void
    })
  }

  remove(name: string): Effect.Effect<boolean> {
    return Effect.sync(() => {
      const removed = this.registry.remove(name)
      if (removed) this.changes.listChanged(this.list)
      return removed
    })
  }
}

/** The implementation of `Features`. */
class FeatureRegistry implements Features {
  readonly catalog: Catalog
  private readonly changes = makeChanges()
  private readonly tools: Entries<Tool>
  private readonly resources: Entries<Resource>
  private readonly templates: Entries<RegisteredTemplate>
  private readonly prompts: Entries<Prompt>

  /** @param watches the running watches of resources, which all connections share */
  constructor({ maxPerKind = 10_000 }: FeatureLimits, watches: Shared.Shared<void, unknown>) {
    const { changes } = this
    this.tools = new Entries("tool", "tools", changes, maxPerKind)
    this.resources = new Entries("resource", "resources", changes, maxPerKind)
    this.templates = new Entries("resource template", "resources", changes, maxPerKind)
    this.prompts = new Entries("prompt", "prompts", changes, maxPerKind)
    const read = {
      tools: this.tools.registry,
      resources: this.resources.registry,
      templates: this.templates.registry,
      prompts: this.prompts.registry,
      changes,
    }
    this.catalog = { ...read, watch: watcher(read, watches) }
  }

  readonly addTool = <R>(tool: Tool<R>): Effect.Effect<void, FeatureRefused, R> => {
    return Effect.flatMap(Effect.context<R>(), (services) => {
      const problem = toolProblem(tool)
      return problem === undefined
        ? this.tools.add(tool.name, toolWithServices(tool, services))
        : this.tools.reject(tool.name, problem)
    })
  }

  readonly addResource = <R>(resource: Resource<R>): Effect.Effect<void, FeatureRefused, R> => {
    const { uri } = resource
    return Effect.flatMap(Effect.context<R>(), (services) =>
      absolute.test(uri)
        ? this.resources.add(uri, resourceWithServices(resource, services))
        : this.resources.reject(uri, "expected an absolute URI: `scheme:...`"),
    )
  }

  readonly addResourceTemplate = <R>(
    template: ResourceTemplate<R>,
  ): Effect.Effect<void, FeatureRefused, R> => {
    const { uriTemplate } = template
    return Effect.flatMap(Effect.context<R>(), (services) => {
      const form = parse(uriTemplate)
      if (form._tag === "Failure") return this.templates.reject(uriTemplate, form.failure)
      const ready = { ...templateWithServices(template, services), form: form.success }
      return this.templates.add(uriTemplate, ready)
    })
  }

  readonly addPrompt = <R>(prompt: Prompt<R>): Effect.Effect<void, FeatureRefused, R> => {
    return Effect.flatMap(Effect.context<R>(), (services) => {
      const problem = promptProblem(prompt)
      return problem === undefined
        ? this.prompts.add(prompt.name, promptWithServices(prompt, services))
        : this.prompts.reject(prompt.name, problem)
    })
  }

  readonly removeTool = (name: string) => {
    return this.tools.remove(name)
  }

  readonly removeResource = (uri: string) => {
    return this.resources.remove(uri)
  }

  readonly removeResourceTemplate = (uriTemplate: string) => {
    return this.templates.remove(uriTemplate)
  }

  readonly removePrompt = (name: string) => {
    return this.prompts.remove(name)
  }

  readonly updated = (uri: string) => {
    return Effect.sync(() => this.changes.updated(uri))
  }
}

/**
 * Makes a registry with these definitions, to pass to `McpServer.serve`. More features can be added at any time. Fails
 * when one of the definitions is rejected.
 */
export const make = <R = never>(
  definitions: Definitions<R> = {},
  limits: FeatureLimits = {},
): Effect.Effect<Features, FeatureRefused, R> =>
  Effect.gen(function* () {
    // Watches end with the subscriptions that use them, so the scope of the table of watches is never closed.
    const watches = yield* Scope.provide(Shared.make<void, unknown>(), Scope.makeUnsafe())
    const features = new FeatureRegistry(limits, watches)
    for (const tool of definitions.tools ?? []) yield* features.addTool(tool)
    for (const resource of definitions.resources ?? []) yield* features.addResource(resource)
    for (const template of definitions.resourceTemplates ?? []) {
      yield* features.addResourceTemplate(template)
    }
    for (const prompt of definitions.prompts ?? []) yield* features.addPrompt(prompt)
    return features
  })
