/**
 * Recognizes secrets by their value, whatever the variable is called. Pure. Each pattern begins with a fixed text or at
 * a word boundary, and what it repeats is bounded or cannot contain another beginning, so that each takes linear time.
 */

const addresses: ReadonlyArray<RegExp> = [
  // A user and a password. Over HTTP also a user alone, because only secrets are put there.
  /:\/\/[^\s/@:?#]*:[^\s/@?#]+@/,
  /(?<=https?):\/\/[^\s/@?#]+@/i,
  // Webhooks: knowing the address is enough to post.
  /hooks\.slack\.com\/(?:services|triggers|workflows)\/\w/i,
  /discord(?:app)?\.com\/api\/(?:v\d{1,3}\/)?webhooks\/\d/i,
  /\.webhook\.office\.com\/webhookb2\/\w/i,
]

/**
 * Assignments in options, connection strings, query parameters, JSON and YAML. A colon counts only after a quotation
 * mark or before a space, because lists of directories have colons too.
 */
const assignments: ReadonlyArray<RegExp> = [
  /(?:passw(?:or)?d|passphrase|passcode|secret|token|signature|(?:api|access|account|private)[_-]?key)(?:["']?\s{0,4}=|["']\s{0,4}:|:\s{1,4})\s{0,4}[^\s;&]/i,
  /(?:(?<![A-Za-z])|(?<=-D))(?:pass|pwd|pw|sig)(?:\s{0,4}=|["']\s{0,4}:)\s{0,4}[^\s;&]/i,
  /--(?:passw(?:or)?d|passphrase|pass|token|secret|api-key)\s{1,4}[^\s-]/i,
  // `-u user:password`; two numbers are a user and a group.
  /(?:^|\s)(?:-u|--user|--proxy-user)[\s=]{1,4}["']?(?!\d{1,10}:\d{1,10}(?:\s|$))[^\s:"']{1,128}:[^\s:/]/,
]

const headers: ReadonlyArray<RegExp> = [
  /(?:authorization|x-api-key|x-auth-token|private-token|job-token)["']?\s{0,4}[:=]\s{0,4}\S/i,
  /^(?:Basic|Bearer)\s+\S{8}/i,
  /(?<![A-Za-z0-9])Bearer\s{1,4}\S{16}/i,
  // Within a text, the word after `Basic` must look like base64.
  /(?<![A-Za-z0-9])[Bb]asic\s{1,4}(?=[A-Za-z0-9+/]{0,64}(?:[a-z][A-Z]|[0-9=]))[A-Za-z0-9+/]{8}/,
]

/** Tokens whose form identifies their issuer. */
const tokens: ReadonlyArray<RegExp> = [
  /(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{16}|github_pat_\w{16}|gl(?:agent|cbt|dt|ffct|ft|imt|pat|ptt|rt|soat)-[\w-]{16})/,
  /(?<![A-Za-z0-9])(?:sk-[\w-]{16}|[rs]k_(?:live|test)_\w{8}|xai-\w{16}|gsk_\w{16}|hf_[A-Za-z0-9]{16})/,
  /(?<![A-Za-z0-9])(?:xox[a-z](?:\.[a-z]{1,8})?-[\w-]{8}|xapp-[\w-]{8}|(?:AKIA|ASIA)[A-Z0-9]{16})/,
  /(?<![A-Za-z0-9])(?:AIza[\w-]{35}|ya29\.[\w-]{8}|GOCSPX-[\w-]{16})/,
  /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{30}|pypi-[\w-]{16}|dop_v1_\w{16}|SG\.[\w-]{16}|hvs\.[\w-]{16}|dckr_pat_\w{8})/,
  /(?<![A-Za-z0-9])(?:AT[ACS]TT3[\w-]{16}|ATBB[A-Za-z0-9]{16}|shp(?:at|ca|pa|ss)_\w{16}|lin_(?:api|oauth)_\w{16})/,
  /[A-Za-z0-9]\.atlasv1\.[\w-]{8}/,
  // Token of a Telegram bot.
  /(?<!\d)\d{8,10}:AA[\w-]{33}/,
  // A JSON Web Token.
  /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8}/,
]

const privateKeys: ReadonlyArray<RegExp> = [
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/,
  // The beginning of a PEM file in base64. After it, a certificate looks like a key.
  /LS0tLS1CRUdJTi/,
  /PuTTY-User-Key-File-/,
  /AGE-SECRET-KEY-1/,
]

const secretValues = [...addresses, ...assignments, ...headers, ...tokens, ...privateKeys]

/** True for a value that looks like a secret. */
export const isSecretValue = (value: string): boolean =>
  secretValues.some((pattern) => pattern.test(value))

/** Each pattern with the rest of the word in which it was found. */
const whole = secretValues.map(
  ({ flags, source }) => new RegExp(`(?:${source})[^\\s"'\\\\;,&]*`, `${flags}g`),
)

/** The text with everything that looks like a secret replaced. */
export const withoutSecretValues = (text: string, replacement: string): string =>
  whole.reduce((rest, pattern) => rest.replaceAll(pattern, replacement), text)
