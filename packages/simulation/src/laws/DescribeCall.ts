/** Text of a call for the message of a violation. Pure. */
import type { Call } from "../trace/History.ts"

/** The number of the call, its operation and its answers. */
export const describeCall = ({ entry, answers }: Call): string =>
  `call ${entry.call} ${JSON.stringify(entry.operation)}: ${JSON.stringify(answers.map(({ answer }) => answer))}`
