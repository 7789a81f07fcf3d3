/** Resources of an embedder, each with its address, or many of one kind by a template of addresses. */
import type { JsonRpcError } from "@colloquy/protocol/JsonRpc"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as Scope from "effect/Scope"
import type { InputRequired, Members, RequestContext } from "../mcp/RequestContext.ts"
import type { Complete } from "./Completion.ts"
import type { Annotations, Icon, ResourceContents } from "./Content.ts"
import { answered } from "./Outcome.ts"

/** There is nothing at that address: the client is told so with the code of its revision. */
export class ResourceNotFound extends Data.TaggedError("ResourceNotFound")<{
  readonly uri: string
}> {}

/** A text, bytes, or several contents with addresses of their own. */
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

/** What is asked of a resource. */
export interface ResourceRequest {
  readonly uri: string
  /** The variables of the template, percent-decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly context: RequestContext
}

/** What a client that subscribes waits for. */
export interface WatchRequest {
  readonly uri: string
  readonly params: Readonly<Record<string, string>>
  readonly principal: string
  /** Tells that the contents are others now. Returns at once, never fails. */
  readonly changed: Effect.Effect<void>
}

/**
 * Begins to watch, in the scope, while somebody subscribes to the address. `ResourceNotFound` refuses the
 * subscription. Without one, `Features.updated` tells of changes.
 */
export type Watch<E, R> = (request: WatchRequest) => Effect.Effect<void, E, R | Scope.Scope>

export interface ResourceOptions<E, R> extends Described {
  /** An absolute address: `scheme:...`. */
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

export interface ListPage {
  readonly resources: ReadonlyArray<Listed>
  /** Where the next page begins; absent on the last. Clients get it sealed. */
  readonly nextCursor?: string
}

export interface ListRequest {
  /** Of the page before. */
  readonly cursor?: string
  /** More are not taken. */
  readonly limit: number
  readonly context: RequestContext
}

export interface ResourceTemplateOptions<E, R> extends Described {
  /** RFC 6570 with variables alone: `{name}` for one segment, `{+name}` for any text. */
  readonly uriTemplate: string
  readonly read: (request: ResourceRequest) => Effect.Effect<ReadReturn, E, R>
  /** Which there are; without one the template alone is told. */
  readonly list?: (request: ListRequest) => Effect.Effect<ListPage, E, R>
  /** By variable. */
  readonly complete?: Readonly<Record<string, Complete<E, R>>>
  readonly watch?: Watch<E, R>
}

type Failure = JsonRpcError | InputRequired | ResourceNotFound

type Read<R> = (
  request: ResourceRequest,
) => Effect.Effect<ReadonlyArray<ResourceContents>, Failure, R>

export interface Resource<R = never> extends Listed {
  readonly read: Read<R>
  readonly watch?: Watch<unknown, R>
}

export interface ResourceTemplate<R = never> extends Described {
  readonly uriTemplate: string
  readonly read: Read<R>
  readonly list?: (request: ListRequest) => Effect.Effect<ListPage, unknown, R>
  /** By variable. */
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
          : answered(`resource ${name}`)(unknown)
      }),
    )

/** Defines a resource. `Features` refuses what cannot be registered. */
export const resource = <E, R = never>(options: ResourceOptions<E, R>): Resource<R> => ({
  ...options,
  read: reader(options, options.read),
})

/** Defines the resources of a template. */
export const resourceTemplate = <E, R = never>(
  options: ResourceTemplateOptions<E, R>,
): ResourceTemplate<R> => ({ ...options, read: reader(options, options.read) })
