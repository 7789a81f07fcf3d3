/** Many requests at once, as bytes, and what came back for them: all that is not to be done while the clock runs. Pure. */

/** All requests in one piece, and where each begins; the end is the last of them. */
export const written = (textOf: (id: number) => string, count: number) => {
  const lines = Array.from({ length: count }, (_, id) => Buffer.from(`${textOf(id)}\n`))
  const starts = [0]
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length)
  return { bytes: Buffer.concat(lines), starts }
}

/** Throws unless each of the ids was answered once, with a result: there would be nothing to measure. */
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
