/** Formats errors for stderr. */
import { spelledOut } from "@colloquy/core/question/VisibleText"

/**
 * Any error in one line: its name and the first line of its message, without the stack and with control characters spelled
 * out.
 */
export const errorLine = (error: unknown): string => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return spelledOut(text.split("\n", 1)[0] ?? "")
}

/** The message of the error in one line, without its name. */
export const reasonLine = (error: unknown): string =>
  errorLine(error instanceof Error ? error.message : error)
