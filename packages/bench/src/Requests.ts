/** Many requests as bytes, and the check of their responses: the work that is not done while the time is taken. Pure. */

/** All requests in one buffer, with the offset of each; the last offset is the end. */
export const written = (textOf: (id: number) => string, count: number) => {
  const lines = Array.from({ length: count }, (_, id) => Buffer.from(`${textOf(id)}\n`))
  const starts = [0]
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length)
  return { bytes: Buffer.concat(lines), starts }
}

/** Throws unless each id has exactly one response with a result; otherwise the figure would have no meaning. */
export const checkAnswers = (chunks: ReadonlyArray<Buffer>, count: number): void => {
  const missing = new Set(Array.from({ length: count }, (_, id) => id))
  for (const line of Buffer.concat(chunks).toString("utf8").trimEnd().split("\n")) {
    const answer = JSON.parse(line) as { readonly id: number; readonly result?: unknown }
    if (answer.result === undefined || !missing.delete(answer.id)) {
      throw new Error(`not one answer of each request: ${line.slice(0, 300)}`)
    }
  }
  if (missing.size > 0) throw new Error(`${missing.size} requests were not answered`)
}
