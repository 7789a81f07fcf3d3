/**
 * Formats and parses times as rollout files contain them: UTC with milliseconds and `Z`. Pure
 * arithmetic instead of a library, because a batch formats thousands of times.
 */

const dayMs = 86_400_000

/** The last millisecond of the year 9999. */
const latestMs = 253_402_300_799_999

const pad = (value: number, digits: number): string => String(value).padStart(digits, "0")

/**
 * Converts days since the epoch to a year, month and day, in a calendar whose year starts in March,
 * so that the leap day is last.
 */
const civil = (days: number): readonly [year: number, month: number, day: number] => {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day]
}

const daysOf = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

/**
 * Formats milliseconds since the epoch as `2025-09-20T08:11:12.345Z`. Times before 1970 or after
 * 9999 are clamped to that range.
 */
export const isoOf = (ms: number): string => {
  const time = Math.min(Math.max(Math.trunc(ms), 0), latestMs)
  const days = Math.floor(time / dayMs)
  const rest = time - days * dayMs
  const [year, month, day] = civil(days)
  const clock = `${pad(Math.floor(rest / 3_600_000), 2)}:${pad(Math.floor(rest / 60_000) % 60, 2)}:${pad(Math.floor(rest / 1000) % 60, 2)}`
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${clock}.${pad(rest % 1000, 3)}Z`
}

const form =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):?(\d\d))$/

/**
 * Parses a time in ISO 8601, with any offset and up to nine fractional digits; undefined for any
 * other text.
 */
export const msOf = (text: string): number | undefined => {
  const match = form.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction = "0", sign, hours, minutes] = match
  const offset = sign === undefined ? 0 : (Number(hours) * 60 + Number(minutes)) * 60_000
  return (
    daysOf(Number(year), Number(month), Number(day)) * dayMs +
    Number(hour) * 3_600_000 +
    Number(minute) * 60_000 +
    Number(second) * 1000 +
    Number(fraction.padEnd(3, "0").slice(0, 3)) -
    (sign === "-" ? -offset : offset)
  )
}

/** Length of `2025-09-20T08:11:`. */
const minuteLength = 17

const zero = 0x30

/** The number that decimal digits of a text make; NaN when a character is not a digit. */
const digits = (text: string, from: number, end: number): number => {
  let value = 0
  for (let at = from; at < end; at++) {
    const digit = text.charCodeAt(at) - zero
    if (digit < 0 || digit > 9) return Number.NaN
    value = value * 10 + digit
  }
  return value
}

/** Parses many times, most of which are in the minute of the one before, as `msOf` does. */
export class IsoTimes {
  /** The text of that minute up to its seconds; empty when the last time had another form. */
  private minute = ""
  private minuteMs = 0

  msOf(text: string): number | undefined {
    // The form that `isoOf` gives: `2025-09-20T08:11:12.345Z`.
    const hasOwnForm = text.length === 24 && text[19] === "." && text[23] === "Z"
    const ms = hasOwnForm ? digits(text, 17, 19) * 1000 + digits(text, 20, 23) : Number.NaN
    if (Number.isNaN(ms)) return msOf(text)
    if (this.minute !== "" && text.startsWith(this.minute)) return this.minuteMs + ms
    const parsed = msOf(text)
    this.minute = parsed === undefined ? "" : text.slice(0, minuteLength)
    this.minuteMs = parsed === undefined ? 0 : parsed - ms
    return parsed
  }
}
