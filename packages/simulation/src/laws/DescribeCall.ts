/** A call and its answers as a violation tells them. Pure. */
import type { Call } from "../trace/History.ts"

export const show = ({ entry, answers }: Call): string =>
  `call ${entry.call} ${JSON.stringify(entry.operation)}: ${JSON.stringify(answers.map(({ answer }) => answer))}`
