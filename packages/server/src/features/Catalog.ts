/**
 * The read side of the registries: which features exist, which resource a URI names, and what changes. Never changes a
 * registry.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { merged as mergedChanges, type CatalogChanges } from "./CatalogChanges.ts"
import type { Prompt } from "./Prompt.ts"
import { type Resource, ResourceNotFound, type ResourceTemplate } from "./Resource.ts"
import { merged as mergedShelf, type Registry } from "./Registry.ts"
import type { Tool } from "./Tool.ts"
import type { UriTemplate } from "./UriTemplate.ts"
import type { Shared } from "../internal/Shared.ts"

/** A template with its parsed `uriTemplate`. */
export interface RegisteredTemplate extends ResourceTemplate {
  readonly form: UriTemplate
}

/** The features that a connection serves. */
export interface Catalog {
  /** By name. */
  readonly tools: Registry<Tool>
  /** By URI. */
  readonly resources: Registry<Resource>
  /** By `uriTemplate`. */
  readonly templates: Registry<RegisteredTemplate>
  /** By name. */
  readonly prompts: Registry<Prompt>
  readonly changes: CatalogChanges
  /**
   * Watches the resource until the scope closes, and calls `changes.updated` when it changes. Fails with
   * `ResourceNotFound` when no resource has that URI, and with the failure of the resource's own `watch`.
   */
  readonly watch: (uri: string, principal: string) => Effect.Effect<void, unknown, Scope.Scope>
}

type Found = { readonly params: Readonly<Record<string, string>> } & (
  | { readonly _tag: "Resource"; readonly resource: Resource }
  | { readonly _tag: "Template"; readonly resource: RegisteredTemplate }
)

/** The resource with this URI, else the first template that matches it, with the values of its variables. */
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
 * Makes `Catalog.watch`. All subscriptions of a principal to one URI share one watch, which ends with the last of them.
 *
 * @param watches the running watches, by principal and URI
 */
export const watcher =
  (
    catalog: Pick<Catalog, "resources" | "templates" | "changes">,
    watches: Shared<void, unknown>,
  ): Catalog["watch"] =>
  (uri, principal) =>
    Effect.suspend(() => {
      const found = findResource(catalog, uri)
      if (found === undefined) return Effect.fail(new ResourceNotFound({ uri }))
      const changed = Effect.sync(() => catalog.changes.updated(uri, principal))
      const { params, resource } = found
      if (resource.watch === undefined) return Effect.void
      return watches(`${principal} ${uri}`, resource.watch({ uri, params, principal, changed }))
    })

/** One catalog of several; where two have a feature of the same name or URI, the first one counts. */
export const mergedCatalog = (catalogs: ReadonlyArray<Catalog>): Catalog => ({
  tools: mergedShelf(catalogs.map(({ tools }) => tools)),
  resources: mergedShelf(catalogs.map(({ resources }) => resources)),
  templates: mergedShelf(catalogs.map(({ templates }) => templates)),
  prompts: mergedShelf(catalogs.map(({ prompts }) => prompts)),
  changes: mergedChanges(catalogs.map(({ changes }) => changes)),
  watch: (uri, principal) => {
    const of = catalogs.find((catalog) => findResource(catalog, uri) !== undefined)
    return of === undefined ? Effect.fail(new ResourceNotFound({ uri })) : of.watch(uri, principal)
  },
})
