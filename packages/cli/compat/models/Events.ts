/** Server-sent events, as the APIs of providers write them. */
export const events = (values: ReadonlyArray<object>): string =>
  values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join("")

interface NamedEvent {
  readonly type: string
  readonly [member: string]: unknown
}

/** The same, with the member `type` of each value as the name of its event. */
export const namedEvents = (values: ReadonlyArray<NamedEvent>): string =>
  values.map((value) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`).join("")

/** The text of a content that is a string, or an array of blocks with texts. */
export const textOf = (content: unknown): string => {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return JSON.stringify(content)
  const blocks = content as ReadonlyArray<{ readonly text?: string }>
  return blocks.map(({ text }) => text ?? "").join("\n")
}
