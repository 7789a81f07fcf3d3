/** Blocks of content in the results of tools, resources and prompts, as they are on the wire. Types only. */
import type { Members } from "../mcp/RequestContext.ts"

/** Hints for clients about one block or resource. */
export interface Annotations {
  /** For whom it is meant. Absent: no preference. */
  readonly audience?: ReadonlyArray<"user" | "assistant">
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number
  /** An ISO 8601 time. */
  readonly lastModified?: string
}

/** An image that clients show beside a tool, a resource or a prompt. */
export type Icon = {
  /** An `https:` or `data:` URI. */
  readonly src: string
  readonly mimeType?: string
  /** `48x48`, or `any`. */
  readonly sizes?: ReadonlyArray<string>
  /** The background that it is made for. Absent: any. */
  readonly theme?: "light" | "dark"
}

interface Block {
  readonly annotations?: Annotations
  readonly _meta?: Members
}

/** A text. */
export interface TextContent extends Block {
  readonly type: "text"
  readonly text: string
}

/** An image. */
export interface ImageContent extends Block {
  readonly type: "image"
  /** In base64. */
  readonly data: string
  readonly mimeType: string
}

/** A recording of sound. */
export interface AudioContent extends Block {
  readonly type: "audio"
  /** In base64. */
  readonly data: string
  readonly mimeType: string
}

/** A reference to a resource, which the client may read with `resources/read`. */
export interface ResourceLink extends Block {
  readonly type: "resource_link"
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  /** In bytes. */
  readonly size?: number
}

interface AnyContents {
  readonly uri: string
  readonly mimeType?: string
  readonly _meta?: Members
}

/** The contents of a resource: text, or bytes in base64. */
export type ResourceContents =
  | (AnyContents & { readonly text: string })
  | (AnyContents & { readonly blob: string })

/** The contents of a resource inside another result. */
export interface EmbeddedResource extends Block {
  readonly type: "resource"
  readonly resource: ResourceContents
}

/** One block of content. */
export type Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
