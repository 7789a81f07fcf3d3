/** What tools, resources and prompts give: blocks of content as they are on the wire. Types alone. */
import type { Members } from "../mcp/RequestContext.ts"

export interface Annotations {
  readonly audience?: ReadonlyArray<"user" | "assistant">
  /** 0 (may be left out) to 1 (is needed). */
  readonly priority?: number
  /** An ISO 8601 time. */
  readonly lastModified?: string
}

/** A picture of a tool, a resource or a prompt for lists. */
export type Icon = {
  /** An `https:` or `data:` address. */
  readonly src: string
  readonly mimeType?: string
  /** `48x48`, or `any`. */
  readonly sizes?: ReadonlyArray<string>
  readonly theme?: "light" | "dark"
}

interface Block {
  readonly annotations?: Annotations
  readonly _meta?: Members
}

export interface TextContent extends Block {
  readonly type: "text"
  readonly text: string
}

export interface ImageContent extends Block {
  readonly type: "image"
  /** In base64. */
  readonly data: string
  readonly mimeType: string
}

export interface AudioContent extends Block {
  readonly type: "audio"
  /** In base64. */
  readonly data: string
  readonly mimeType: string
}

/** Points to a resource, which the client reads when it wants to. */
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

/** What a resource holds: text, or bytes in base64. */
export type ResourceContents =
  | (AnyContents & { readonly text: string })
  | (AnyContents & { readonly blob: string })

export interface EmbeddedResource extends Block {
  readonly type: "resource"
  readonly resource: ResourceContents
}

export type Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
