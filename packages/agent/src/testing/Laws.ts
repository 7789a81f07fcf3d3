/** Checks the laws of a program on the log of a conversation. Pure. */
import type { EventLog } from "@colloquy/simulation/EventLaws"
import { failureText } from "@colloquy/tools/host/FailureText"
import { BadOption } from "../internal/OptionErrors.ts"
import { checkOptions, func, recordOf, shown } from "../internal/Options.ts"

/** One violation of a law. */
export interface Broken {
  readonly law: string
  readonly what: string
}

const lawsKind = recordOf("an object of laws by their names", func)

/** Throws `BadOption` unless these are laws. @param of the function that got them, as it is called */
export const checkLaws = (of: string, laws: unknown): void =>
  checkOptions(`${of} laws`, lawsKind, laws)

const textsOf = (law: string, check: () => unknown): ReadonlyArray<string> => {
  let texts: unknown
  try {
    texts = check()
  } catch (error) {
    // An assertion within a law fails it.
    return [failureText(error)]
  }
  if (Array.isArray(texts) && texts.every((text) => typeof text === "string")) return texts
  throw new BadOption({
    option: `the result of the law ${JSON.stringify(law)}`,
    expected: "an array with one text for each violation",
    got: shown(texts),
  })
}

/** The violations of these laws in one log. A law that throws is broken. */
export const brokenIn = <Rest extends ReadonlyArray<unknown>>(
  laws: Readonly<Record<string, (log: EventLog, ...rest: Rest) => ReadonlyArray<string>>>,
  log: EventLog,
  ...rest: Rest
): ReadonlyArray<Broken> =>
  Object.entries(laws).flatMap(([law, check]) =>
    textsOf(law, () => check(log, ...rest)).map((what) => ({ law, what })),
  )
