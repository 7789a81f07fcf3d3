/**
 * Recognizes variables that a person would call a secret, by the words of the name or by the value. Pure. Names are
 * read word by word, so that `MONKEY`, `KEYMAP` and `PATH` are not secrets while `API_KEY`, `apiKey` and `DB_PWD` are.
 * In doubt a variable counts as a secret, because a setting can bring it back.
 */
import { isSecretValue } from "./SecretValues.ts"

/** Words that make any name secret. */
const secretWords = new Set(
  (
    "2FA AUTH AUTHORIZATION BEARER BOT COOKIE COOKIES CRED CREDS CSRF DSN ECDSA HMAC JWT KUBECONFIG MFA MNEMONIC NETRC " +
    "OAUTH OTP PASS PAT PATS PEM PEPPER PFX PIN PPK PRIVATE PSK RSA SALT SAS SK TFA TOTP WALLET WEBHOOK WEBHOOKS XSRF"
  ).split(" "),
)

/** Longer words that contain a secret word, as in `PGPASSWORD`, `AUTHTOKEN`, `SSHPASS`, `BINDPW`. */
const secretInWord =
  /SECRET|TOKEN(?!IZ)|CREDENTIAL|PASSW|PASSPHRASE|PASSCODE|PASSFILE|PASSKEY|(?:ASK|DB|KEY|MAIL|PG|ROOT|SMTP|SSH|STORE|USER)PASS$|PWD?S?$/

/** Words that are secret only together. Trailing digits have been removed, as from `ED25519`. */
const secretPhrase =
  /(?:^|_)(?:(?:ACCESS|BACKUP|LOGIN|RECOVERY|SCRATCH|VERIFICATION)_?CODES?|ID_(?:DSA|ED)|MAGIC_?LINKS?|(?:RECOVERY|SEED)_?(?:PHRASE|WORD)S?|SA_JSON|SERVICE_?ACCOUNTS?)(?:_|$)/

/** Words that end in `KEY` with another meaning. */
const otherKeys = new Set(
  "DONKEY FLUNKEY HOCKEY HOTKEY JOCKEY LACKEY MICKEY MONKEY TURKEY WHISKEY".split(" "),
)
const keyWord = /KEYS?$|^KEY(?:CHAIN|DATA|FILE|ID|PAIR|RING|STORE|TAB|VAULT)/

/** Prefixes of which nearly every variable is a secret, or leads to one. */
const secretFamilies = /^(?:AWS|AZURE|GH|GITHUB)_/

/** Variables with those prefixes, and the version of Erlang, that are public and that builds read. */
const publicNames = new Set(
  (
    "AWS_DEFAULT_OUTPUT AWS_DEFAULT_REGION AWS_PAGER AWS_REGION GH_HOST GH_PAGER GITHUB_ACTION GITHUB_ACTIONS " +
    "GITHUB_ACTOR GITHUB_API_URL GITHUB_BASE_REF GITHUB_EVENT_NAME GITHUB_HEAD_REF GITHUB_JOB GITHUB_REF " +
    "GITHUB_REF_NAME GITHUB_REF_TYPE GITHUB_REPOSITORY GITHUB_REPOSITORY_OWNER GITHUB_RUN_ATTEMPT GITHUB_RUN_ID " +
    "GITHUB_RUN_NUMBER GITHUB_SERVER_URL GITHUB_SHA GITHUB_WORKFLOW GITHUB_WORKSPACE OTP_VERSION"
  ).split(" "),
)

/** Whole names: directories and sockets that give access, sessions of password managers and of web applications. */
const secretNames =
  /^(?:BW_SESSION|DOCKER_CONFIG|GPG_AGENT_INFO|OP_SESSION_?.*|PGSERVICEFILE|PHPSESSID|J?SESSIONID|SESSION_ID)$/
const publicSessions = new Set(["DESKTOP_SESSION", "GNOME_DESKTOP_SESSION"])

/** The current and the previous directory of a shell. */
const directories = new Set(["PWD", "OLDPWD"])

/** Services whose addresses usually contain a user and a password. */
const servicesWithLogin = new Set(
  (
    "AMQP BROKER CELERY CLICKHOUSE CLOUDAMQP DATABASE DB ELASTIC ELASTICSEARCH JDBC KAFKA LDAP MAILER MARIADB MONGO " +
    "MONGODB MYSQL NATS NEO4J OPENSEARCH PG POSTGRES POSTGRESQL RABBITMQ REDIS SMTP SQLALCHEMY"
  ).split(" "),
)
const addressWords = new Set(["URL", "URI", "URLS", "URIS"])

/** Splits at `_` and other characters that are no letters or digits, and where a capital follows a small letter. */
const wordsOf = (name: string): ReadonlyArray<string> =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .map((word) => word.replace(/(?<!\d)\d+$/, ""))
    .filter((word) => word !== "")

const isSecretWord = (word: string): boolean =>
  secretWords.has(word) || secretInWord.test(word) || (keyWord.test(word) && !otherKeys.has(word))

const isAddressWithLogin = (words: ReadonlyArray<string>): boolean =>
  words.some((word) => /^CONN(?:ECTION)?STR(?:ING)?$/.test(word)) ||
  (words.includes("CONNECTION") && words.includes("STRING")) ||
  (words.some((word) => addressWords.has(word)) &&
    words.some((word) => servicesWithLogin.has(word))) ||
  words.some((word) => /^(?:DATABASE|REDIS|MONGO(?:DB)?|AMQP|POSTGRES(?:QL)?)UR[IL]$/.test(word))

/** Judges by the name alone. */
const isSecretName = (name: string): boolean => {
  const upper = name.toUpperCase()
  if (directories.has(upper) || publicNames.has(upper)) return false
  if (secretFamilies.test(upper) || secretNames.test(upper)) return true
  if (upper.endsWith("_SESSION") && !publicSessions.has(upper)) return true
  const words = wordsOf(name)
  return words.some(isSecretWord) || secretPhrase.test(words.join("_")) || isAddressWithLogin(words)
}

/** True for a variable that commands do not inherit unless a setting says so. */
export const isSecretVariable = (name: string, value: string): boolean =>
  isSecretName(name) || isSecretValue(value)
