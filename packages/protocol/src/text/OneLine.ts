/** Messages of several lines where only one is shown. Pure. */

/** The text without its line breaks. */
export const oneLine = (text: string): string =>
  text
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
