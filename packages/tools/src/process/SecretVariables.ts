/**
 * Which variables of the server's environment a person would call a secret, by the words of the name or by the value.
 * Pure. Names are read word by word, so that `MONKEY`, `KEYMAP` and `PATH` stay while `API_KEY`, `apiKey` and `DB_PWD` do
 * not; when in doubt a variable counts as a secret, since a setting can bring it back.
 */

/** Words that make any name a secret one. */
const secretWords = new Set(
  (
    "AUTH AUTHORIZATION BEARER COOKIE COOKIES CRED CREDS DSN HMAC JWT KUBECONFIG MNEMONIC NETRC OAUTH OTP PASS PAT PATS " +
    "PRIVATE PWD TOTP WEBHOOK"
  ).split(" "),
)

/** Longer words that contain a secret one, as in `PGPASSWORD`, `AUTHTOKEN`, `SSHPASS`. */
const secretInWord =
  /SECRET|TOKEN(?!IZ)|CREDENTIAL|PASSW|PASSPHRASE|PASSCODE|PASSFILE|PASSKEY|(?:ASK|DB|KEY|MAIL|PG|ROOT|SMTP|SSH|STORE|USER)PASS$/

/** Words that end in `KEY` and mean something else. */
const otherKeys = new Set(
  "DONKEY FLUNKEY HOCKEY HOTKEY JOCKEY LACKEY MICKEY MONKEY TURKEY WHISKEY".split(" "),
)
const keyWord = /KEYS?$|^KEY(?:CHAIN|DATA|FILE|ID|PAIR|RING|STORE|TAB|VAULT)/

/** Families of which nearly every member is one, or leads to one. */
const secretFamilies = /^(?:AWS|AZURE|GH|GITHUB)_/

/** Members of those families that are public, and that builds ask for. */
const publicNames = new Set(
  (
    "AWS_DEFAULT_OUTPUT AWS_DEFAULT_REGION AWS_PAGER AWS_REGION GH_HOST GH_PAGER GITHUB_ACTION GITHUB_ACTIONS " +
    "GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_HEAD_REF GITHUB_JOB GITHUB_REF " +
    "GITHUB_REF_NAME GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ATTEMPT GITHUB_RUN_ID " +
    "GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA GITHUB_WORKFLOW GITHUB_WORKSPACE"
  ).split(" "),
)

/** Whole names: directories and sockets that give access, sessions of password managers and of web applications. */
const secretNames =
  /^(?:BW_SESSION|DOCKER_CONFIG|GPG_AGENT_INFO|OP_SESSION_?.*|PGSERVICEFILE|PHPSESSID|J?SESSIONID|SESSION_ID)$/
const publicSessions = new Set(["DESKTOP_SESSION", "GNOME_DESKTOP_SESSION"])

/** The directory a shell is in, and was in. */
const directories = new Set(["PWD", "OLDPWD"])

/** Services whose addresses carry a user and a password as a rule. */
const servicesWithLogin = new Set(
  (
    "AMQP BROKER CELERY CLICKHOUSE CLOUDAMQP DATABASE DB ELASTIC ELASTICSEARCH JDBC KAFKA LDAP MAILER MARIADB MONGO " +
    "MONGODB MYSQL NATS NEO4J OPENSEARCH PG POSTGRES POSTGRESQL RABBITMQ REDIS SMTP SQLALCHEMY"
  ).split(" "),
)
const addressWords = new Set(["URL", "URI", "URLS", "URIS"])

/** At `_` and everything else that is no letter or digit, and where a capital follows a small letter. */
const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((word) => word.replace(/\d+$/, ""))
    .filter((word) => word !== "")

const isSecretWord = (word: string): boolean =>
  secretWords.has(word) || secretInWord.test(word) || (keyWord.test(word) && !otherKeys.has(word))

const isAddressWithLogin = (words: ReadonlyArray<string>): boolean =>
  words.some((word) => /^CONN(?:ECTION)?STR(?:ING)?$/.test(word)) ||
  (words.includes("CONNECTION") && words.includes("STRING")) ||
  (words.some((word) => addressWords.has(word)) &&
    words.some((word) => servicesWithLogin.has(word))) ||
  words.some((word) => /^(?:DATABASE|REDIS|MONGO(?:DB)?|AMQP|POSTGRES(?:QL)?)UR[IL]$/.test(word))

/** By its name alone. */
const isSecretName = (name: string): boolean => {
  const upper = name.toUpperCase()
  if (directories.has(upper) || publicNames.has(upper)) return false
  if (secretFamilies.test(upper) || secretNames.test(upper)) return true
  if (upper.endsWith("_SESSION") && !publicSessions.has(upper)) return true
  const words = wordsOf(name)
  return words.some(isSecretWord) || isAddressWithLogin(words)
}

/**
 * What is a secret wherever it stands. Each begins at a fixed text or at the boundary of a word and repeats no group, so
 * that none takes more than linear time.
 */
const secretValues: ReadonlyArray<RegExp> = [
  // An address with a user and a password; with anything before the `@` where only a secret is put there.
  /:\/\/[^\s/@:?#]*:[^\s/@?#]+@/,
  /(?<=https?):\/\/[^\s/@?#]+@/i,
  // Connection strings and query parameters.
  /(?:^|[\s;&?])(?:password|passwd|pwd|pass|secret|token|access_token|client_secret|api_?key|accountkey|sharedaccesskey|sig)=[^\s;&]/i,
  // Tokens that name their issuer.
  /(?<![A-Za-z0-9])(?:gh[oprsu]_[A-Za-z0-9]{16}|github_pat_\w{16}|glpat-[\w-]{16}|sk-[\w-]{16}|[rs]k_(?:live|test)_\w{8})/,
  /(?<![A-Za-z0-9])(?:xox[a-z]-[\w-]{8}|xapp-[\w-]{8}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{35}|ya29\.[\w-]{8})/,
  /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{30}|pypi-[\w-]{16}|hf_[A-Za-z0-9]{16}|dop_v1_\w{16}|SG\.[\w-]{16}|hvs\.[\w-]{16}|dckr_pat_\w{8})/,
  /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8}/,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY/,
  /AGE-SECRET-KEY-1/,
  /^(?:Basic|Bearer)\s+\S{8}/i,
]

/** True for what commands do not inherit unless a setting says so. */
export const isSecretVariable = (name: string, value: string): boolean =>
  isSecretName(name) || secretValues.some((pattern) => pattern.test(value))
