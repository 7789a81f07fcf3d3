/** What the server reads of the registries: what is there, what an address leads to, what changes. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { merged as mergedNotices, type Notices } from "./Notices.ts"
import type { Prompt } from "./Prompt.ts"
import { type Resource, ResourceNotFound, type ResourceTemplate } from "./Resource.ts"
import { merged as mergedShelf, type Registry } from "./Registry.ts"
import type { Tool } from "./Tool.ts"
import type { UriTemplate } from "./UriTemplate.ts"
import type { Shared } from "../internal/Shared.ts"

/** A template with what its form says. */
export interface RegisteredTemplate extends ResourceTemplate {
  readonly form: UriTemplate
}

/** What the server reads. */
export interface Catalog {
  readonly tools: Registry<Tool>
  readonly resources: Registry<Resource>
  readonly templates: Registry<RegisteredTemplate>
  readonly prompts: Registry<Prompt>
  readonly notices: Notices
  /** Watches that address in the scope, and tells `notices` when it changes. Fails when there is nothing to watch. */
  readonly watch: (uri: string, principal: string) => Effect.Effect<void, unknown, Scope.Scope>
}

type Found = { readonly params: Readonly<Record<string, string>> } & (
  | { readonly _tag: "Resource"; readonly resource: Resource }
  | { readonly _tag: "Template"; readonly resource: RegisteredTemplate }
)

/** What an address leads to: a resource of its own, else the first template of that form. */
export const findResource = (
  { resources, templates }: Pick<Catalog, "resources" | "templates">,
  uri: string,
): Found | undefined => {
  const resource = resources.get(uri)
  if (resource !== undefined) return { _tag: "Resource", resource, params: {} }
  for (const [, { value }] of templates.entries()) {
    const params = value.form.match(uri)
    if (params !== undefined) return { _tag: "Template", resource: value, params }
  }
  return undefined
}

/**
 * Watches each address once for all subscriptions of a principal, until the last one ends.
 *
 * @param watches the addresses that are watched
 */
export const watcher =
  (
    catalog: Pick<Catalog, "resources" | "templates" | "notices">,
    watches: Shared<void, unknown>,
  ): Catalog["watch"] =>
  (uri, principal) =>
    Effect.suspend(() => {
      const found = findResource(catalog, uri)
      if (found === undefined) return Effect.fail(new ResourceNotFound({ uri }))
      const changed = Effect.sync(() => catalog.notices.updated(uri))
      const { params, resource } = found
      if (resource.watch === undefined) return Effect.void
      return watches(`${principal} ${uri}`, resource.watch({ uri, params, principal, changed }))
    })

/** Of several registries, the first of which counts where two have the same. */
export const mergedCatalog = (catalogs: ReadonlyArray<Catalog>): Catalog => ({
  tools: mergedShelf(catalogs.map(({ tools }) => tools)),
  resources: mergedShelf(catalogs.map(({ resources }) => resources)),
  templates: mergedShelf(catalogs.map(({ templates }) => templates)),
  prompts: mergedShelf(catalogs.map(({ prompts }) => prompts)),
  notices: mergedNotices(catalogs.map(({ notices }) => notices)),
  watch: (uri, principal) => {
    const of = catalogs.find((catalog) => findResource(catalog, uri) !== undefined)
    return of === undefined ? Effect.fail(new ResourceNotFound({ uri })) : of.watch(uri, principal)
  },
})
