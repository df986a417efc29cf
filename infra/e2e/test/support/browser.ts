import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'

/** The machine's browser, or null. */
export const CHROMIUM = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
)

const SCREENSHOTS = fileURLToPath(new URL('../../../../out/screenshots/', import.meta.url))
const PICTURES = fileURLToPath(new URL('../../../../docs/images/', import.meta.url))

/** Longest wait for a page. It only detects hangs, because a busy machine takes a minute for a map. */
const PATIENCE_MS = 300_000

/** Starts the browser; maps are drawn without a graphics card. The timeout of its pages is {@link PATIENCE_MS}. */
export async function startBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM ?? '',
    args: ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
  })
  return browser.on('context', (context) => context.setDefaultTimeout(PATIENCE_MS))
}

/** Records a page's reported errors and everything that it received. */
export class Watch {
  readonly trouble: string[] = []
  readonly origins = new Set<string>()
  readonly #bodies: Promise<string>[] = []
  /** Pattern of errors that a step expects, e.g. after a wrong password. */
  #expected: RegExp | null = null

  constructor(page: Page) {
    page.on('pageerror', (error) => this.trouble.push(`page error: ${error.message}`))
    page.on('console', (message) => {
      const text = `${message.type()}: ${message.text()} ${message.location().url}`
      if (message.type() === 'error' && !this.#expected?.test(text)) this.trouble.push(text)
    })
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      if (protocol.startsWith('http')) this.origins.add(origin)
    })
    page.on('response', (response) => {
      const head = response.headersArray().then((headers) => JSON.stringify(headers))
      this.#bodies.push(head.catch(() => ''))
      const streams = response.headers()['content-type']?.startsWith('text/event-stream') ?? false
      if (!streams) this.#bodies.push(response.text().catch(() => ''))
    })
  }

  /** Permits an error of the console while the work runs. */
  async expecting(error: RegExp, work: () => Promise<void>): Promise<void> {
    this.#expected = error
    try {
      await work()
    } finally {
      this.#expected = null
    }
  }

  /** Everything that was received so far. */
  async received(): Promise<string> {
    return (await Promise.all(this.#bodies)).join('\n')
  }
}

/** Violations of WCAG 2.2 A and AA that axe calls serious or critical, one line each. */
export async function seriousViolations(page: Page): Promise<string[]> {
  // The page's own policy allows no injected script. The debugger is not subject to it.
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate(async () => {
    const { axe: engine } = window as unknown as { axe: typeof axe }
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    return engine.run(document, { runOnly: { type: 'tag', values: tags } })
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

export async function screenshot(page: Page, name: string): Promise<void> {
  await mkdir(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: `${SCREENSHOTS}${name}.png` })
}

/** A screenshot that `TERRANE_PICTURES=1` also writes into the documentation. */
export async function picture(page: Page, name: string): Promise<void> {
  await screenshot(page, name)
  if (process.env['TERRANE_PICTURES'] !== '1') return
  await page.screenshot({ path: `${PICTURES}${name}.jpg`, type: 'jpeg', quality: 70 })
}

/** Drops a file on the page. */
export async function dropFile(page: Page, name: string, content: Uint8Array): Promise<void> {
  const data = await page.evaluateHandle(
    ([fileName, base64]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([Uint8Array.from(atob(base64!), (char) => char.charCodeAt(0))], fileName!))
      return transfer
    },
    [name, Buffer.from(content).toString('base64')],
  )
  for (const event of ['dragover', 'drop']) await page.dispatchEvent('main', event, { dataTransfer: data })
}

/** Waits until the map of the page is drawn. */
export async function mapReady(page: Page): Promise<void> {
  await page.locator('.map-box[aria-busy="false"]').waitFor()
  await page.locator('.map-box .canvas[data-drawn="true"]').waitFor()
}

/**
 * Results of a walk through a page with the Tab key: elements that were missed, or that have no name or no visible
 * focus.
 */
export interface Walk {
  readonly missed: readonly string[]
  readonly nameless: readonly string[]
  readonly unseen: readonly string[]
}

/** Far more stops than any page has. */
const MOST_STOPS = 400

/** Presses Tab from the top of the page until the focus leaves it. */
export async function walkByKeyboard(page: Page): Promise<Walk> {
  await page.evaluate(() => {
    // All visible clickable elements must be reached.
    const CLICKABLE = 'a[href], button, input, select, textarea, summary'
    for (const element of document.querySelectorAll<HTMLElement>(CLICKABLE)) {
      const isOff = element.matches(':disabled') || element.closest('[inert], [hidden]') !== null
      const isRadio = element.matches('input[type=radio]:not(:checked)')
      if (!isOff && !isRadio && element.checkVisibility({ visibilityProperty: true })) element.dataset['walk'] = 'waits'
    }
    document.body.tabIndex = -1
    document.body.focus()
  })
  const nameless: string[] = []
  const unseen: string[] = []
  for (let i = 0; i < MOST_STOPS; i++) {
    await page.keyboard.press('Tab')
    const met = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null
      if (!element || element === document.body || element.dataset['walk'] === 'met') return null
      element.dataset['walk'] = 'met'
      const labels = 'labels' in element ? [...(element.labels as NodeListOf<HTMLElement>)] : []
      const label = element.getAttribute('aria-label') ?? element.getAttribute('aria-labelledby') ?? element.title
      const named = [label, element.textContent, ...labels.map(({ textContent }) => textContent)].join('').trim() !== ''
      const seen = [element, ...labels, element.closest('.upload-box')].some((at) => {
        if (!(at instanceof HTMLElement)) return false
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(at)
        return (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
      })
      return { what: element.outerHTML.slice(0, 120), named, seen }
    })
    if (!met) break
    if (!met.named) nameless.push(met.what)
    if (!met.seen) unseen.push(met.what)
  }
  const missed = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('[data-walk="waits"]')].map((element) =>
      element.outerHTML.slice(0, 120),
    ),
  )
  return { missed, nameless, unseen }
}
