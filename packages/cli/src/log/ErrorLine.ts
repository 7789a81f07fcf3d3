import { spelledOut } from "@colloquy/core/question/VisibleText"

/**
 * An error of any kind in one line, for stderr: its name and the first line of its message, no stack, and nothing that a
 * terminal would obey.
 */
export const errorLine = (error: unknown): string => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return spelledOut(text.split("\n", 1)[0] ?? "")
}
