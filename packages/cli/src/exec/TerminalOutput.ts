/**
 * The transcript of `exec` on a terminal: below it a row that says how long the turn has been running, which is erased
 * before anything is written and when it ends. Elsewhere the text is written as it is.
 */
import { workingText } from "../demo/Format.ts"

/** Where a transcript is written. */
export interface TranscriptOutput {
  readonly write: (text: string) => void
  /** Shows how long the turn runs, from now on. */
  readonly begin: () => void
  /** Shows nothing more of it. */
  readonly end: () => void
}

const erase = "\r\u001B[2K"
const updateMs = 1000

/** Writes to a terminal. */
const onTerminal = (stream: NodeJS.WriteStream): TranscriptOutput => {
  let timer: NodeJS.Timeout | undefined
  let beganMs = 0
  const row = () => {
    if (timer === undefined) return ""
    return workingText(performance.now() - beganMs).slice(0, (stream.columns || 80) - 1)
  }
  return {
    write: (text) => {
      if (text !== "") stream.write(`${timer === undefined ? "" : erase}${text}${row()}`)
    },
    begin: () => {
      beganMs = performance.now()
      timer = setInterval(() => stream.write(`${erase}${row()}`), updateMs)
      timer.unref()
      stream.write(row())
    },
    end: () => {
      if (timer === undefined) return
      clearInterval(timer)
      timer = undefined
      stream.write(erase)
    },
  }
}

/** The output for the transcript. A terminal that cannot erase a row gets none that changes. */
export const transcriptOutput = (stream: NodeJS.WriteStream): TranscriptOutput =>
  stream.isTTY && process.env["TERM"] !== "dumb"
    ? onTerminal(stream)
    : { write: (text) => void stream.write(text), begin: () => {}, end: () => {} }
