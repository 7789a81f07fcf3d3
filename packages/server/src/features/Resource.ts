/** Resources of the embedding program: single ones with a URI each, or many of one kind with a template of URIs. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as Scope from "effect/Scope"
import type { InputRequired, Members, RequestContext } from "../mcp/RequestContext.ts"
import type { Complete } from "./Completion.ts"
import type { Annotations, Icon, ResourceContents } from "./Content.ts"
import { toClientError } from "./Outcome.ts"

/** No resource has that URI. The client gets an error with the code of its revision. */
export class ResourceNotFound extends Data.TaggedError("ResourceNotFound")<{
  readonly uri: string
}> {}

/** A text, bytes, or several contents, each with its own URI. */
export type ReadReturn = string | Uint8Array | ReadonlyArray<ResourceContents>

interface Described {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly icons?: ReadonlyArray<Icon>
  readonly annotations?: Annotations
  /** `_meta` of the list entry. */
  readonly meta?: Members
}

/** A request to read a resource. */
export interface ResourceRequest {
  readonly uri: string
  /** Values of the template's variables, percent-decoded; empty for a resource without a template. */
  readonly params: Readonly<Record<string, string>>
  readonly context: RequestContext
}

/** A request to watch a resource. */
export interface WatchRequest {
  readonly uri: string
  readonly params: Readonly<Record<string, string>>
  readonly principal: string
  /** Reports that the contents have changed. Resolves at once and never fails. */
  readonly changed: Effect.Effect<void>
}

/**
 * Starts to watch a resource until the scope closes, which happens when its last subscription ends. `ResourceNotFound`
 * rejects the subscription. A resource without a watch reports its changes with `Features.updated`.
 */
export type Watch<E, R> = (request: WatchRequest) => Effect.Effect<void, E, R | Scope.Scope>

/** The definition of one resource. */
export interface ResourceOptions<E, R> extends Described {
  /** An absolute URI: `scheme:...`. */
  readonly uri: string
  /** In bytes. */
  readonly size?: number
  readonly read: (request: ResourceRequest) => Effect.Effect<ReadReturn, E, R>
  readonly watch?: Watch<E, R>
}

/** One resource in a list. */
export interface Listed extends Described {
  readonly uri: string
  readonly size?: number
}

/** One page of the resources of a template. */
export interface ListPage {
  readonly resources: ReadonlyArray<Listed>
  /** Where the next page begins; absent on the last page. It is encrypted before it is sent to a client. */
  readonly nextCursor?: string
}

/** A request for one page of the resources of a template. */
export interface ListRequest {
  /** `nextCursor` of the previous page; absent for the first one. */
  readonly cursor?: string
  /** Largest number of resources to return; further ones are ignored. */
  readonly limit: number
  readonly context: RequestContext
}

/** The definition of the resources of a template. */
export interface ResourceTemplateOptions<E, R> extends Described {
  /** A template of RFC 6570 that has only variables: `{name}` for one segment, `{+name}` for any text. */
  readonly uriTemplate: string
  readonly read: (request: ResourceRequest) => Effect.Effect<ReadReturn, E, R>
  /** Lists the existing resources. Default: clients see only the template. */
  readonly list?: (request: ListRequest) => Effect.Effect<ListPage, E, R>
  /** Completion per variable of the template. */
  readonly complete?: Readonly<Record<string, Complete<E, R>>>
  readonly watch?: Watch<E, R>
}

/** What `read` may fail with. */
type Failure = JsonRpcError | InputRequired | ResourceNotFound

type Read<R> = (
  request: ResourceRequest,
) => Effect.Effect<ReadonlyArray<ResourceContents>, Failure, R>

/** A defined resource. */
export interface Resource<R = never> extends Listed {
  readonly read: Read<R>
  readonly watch?: Watch<unknown, R>
}

/** A defined template of resources. */
export interface ResourceTemplate<R = never> extends Described {
  readonly uriTemplate: string
  readonly read: Read<R>
  readonly list?: (request: ListRequest) => Effect.Effect<ListPage, unknown, R>
  /** Completion per variable of the template. */
  readonly complete?: Readonly<Record<string, Complete<unknown, R>>>
  readonly watch?: Watch<unknown, R>
}

const contentsOf = (
  { uri }: ResourceRequest,
  mimeType: string | undefined,
  returned: ReadReturn,
): ReadonlyArray<ResourceContents> => {
  const of = { uri, ...(mimeType === undefined ? {} : { mimeType }) }
  if (typeof returned === "string") return [{ ...of, text: returned }]
  return returned instanceof Uint8Array ? [{ ...of, blob: Base64.encode(returned) }] : returned
}

const reader =
  <E, R>(
    { mimeType, name }: Described,
    read: (request: ResourceRequest) => Effect.Effect<ReadReturn, E, R>,
  ): Read<R> =>
  (request) =>
    Effect.suspend(() => read(request)).pipe(
      Effect.map((returned) => contentsOf(request, mimeType, returned)),
      Effect.catch((failure): Effect.Effect<never, Failure> => {
        const unknown: unknown = failure
        return unknown instanceof ResourceNotFound
          ? Effect.fail(unknown)
          : toClientError(`resource ${name}`)(unknown)
      }),
    )

/** Defines a resource. It is checked when it is registered with `Features`. */
export const resource = <E, R = never>(options: ResourceOptions<E, R>): Resource<R> => ({
  ...options,
  read: reader(options, options.read),
})

/** Defines the resources of a template. It is checked when it is registered with `Features`. */
export const resourceTemplate = <E, R = never>(
  options: ResourceTemplateOptions<E, R>,
): ResourceTemplate<R> => ({ ...options, read: reader(options, options.read) })
