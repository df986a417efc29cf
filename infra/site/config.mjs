import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// The site of the documentation: every page of docs/ and every README, at the path that it has in the repository.

const root = fileURLToPath(new URL('../../../../', import.meta.url))

const TASKS = [
  ['Embed an image', 'embed'],
  ['Search', 'search'],
  ['Import a file', 'import'],
  ['Import OpenStreetMap', 'osm'],
  ['Import Overture Maps', 'overture'],
  ['Embed regions', 'regions'],
  ['Make tiles', 'tiles'],
  ['Tables', 'tables'],
  ['Export a table', 'export'],
  ['Route', 'route'],
  ['Deploy a function', 'functions'],
  ['Jobs', 'jobs'],
]
const RECIPES = [
  ['My image → similar places', 'similar-places'],
  ['A city → tiles → a map', 'city-map'],
  ['An extract → routes in my app', 'routes-in-an-app'],
  ['A Shapefile → an API', 'shapefile-to-api'],
  ['A function with PostGIS', 'function-with-postgis'],
]
const PACKAGES = [
  'client',
  'embeddings',
  'osm',
  'routing',
  'tiling',
  'bundler',
  'files',
  'overture',
  'pglite-server',
  'core',
  'contracts',
]

export default {
  title: 'Terrane',
  description: 'The compute backend of a geospatial platform.',
  srcDir: 'pages',
  outDir: process.env.TERRANE_SITE_OUT ?? join(root, 'out/site'),
  cacheDir: join(root, '.cache/site'),
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: true,
  // The site has no sources, so links to them are removed.
  markdown: { config: (markdown) => markdown.use(withoutSources) },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Quickstart', link: '/docs/quickstart' },
      { text: 'Tasks', link: '/docs/' },
      { text: 'Contracts', link: '/docs/contracts' },
      { text: 'Operations', link: '/docs/operations' },
    ],
    sidebar: [
      { text: 'Ten minutes', link: '/docs/quickstart' },
      group('Tasks', 'docs/tasks', TASKS),
      group('Recipes', 'docs/recipes', RECIPES),
      {
        text: 'Know more',
        items: [
          { text: 'Architecture', link: '/docs/architecture' },
          { text: 'Contracts', link: '/docs/contracts' },
          { text: 'Routing', link: '/docs/routing/' },
          { text: 'Benchmarks', link: '/docs/benchmarks' },
          { text: 'Decisions', link: '/docs/decisions/' },
        ],
      },
      { text: 'Packages', items: PACKAGES.map((name) => ({ text: name, link: `/packages/${name}/` })) },
      {
        text: 'Run it',
        items: [
          { text: 'Operations', link: '/docs/operations' },
          { text: 'Settings', link: '/docs/settings' },
          { text: 'Contributing', link: '/docs/contributing' },
        ],
      },
    ],
  },
}

function group(text, folder, pages) {
  return { text, items: pages.map(([title, page]) => ({ text: title, link: `/${folder}/${page}` })) }
}

/** Replaces a link to a file outside of the site by its text. */
function withoutSources(markdown) {
  markdown.core.ruler.push('sources', (state) => {
    for (const { children } of state.tokens) {
      let isOpen = false
      for (const token of children ?? []) {
        if (token.type === 'link_open') isOpen = leadsToSources(token.attrGet('href'), state.env.relativePath)
        if (!isOpen || !/^link_(?:open|close)$/.test(token.type)) continue
        if (token.type === 'link_close') isOpen = false
        token.type = 'text'
        token.content = ''
      }
    }
  })
}

function leadsToSources(href, page) {
  if (/^(?:[a-z]+:|#)/.test(href)) return false
  const path = join(root, dirname(page), decodeURI(href.split('#', 1)[0]))
  return !/\.(?:md|jpg|png)$/.test(path) && !existsSync(join(path, 'README.md'))
}
