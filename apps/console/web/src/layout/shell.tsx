import type { ComponentChildren, JSX } from 'preact'
import { DropAnywhere } from './drop-anywhere.tsx'
import { Icon, Mark, type IconName } from '../components/icon.tsx'
import { Menu } from '../components/basics.tsx'
import { readProjects, type Project } from '../lib/project.ts'
import { Link, navigate, usePlace } from '../lib/router.tsx'
import { useResource } from '../lib/use-resource.ts'
import { AccountMenu } from './account-menu.tsx'

const SECTIONS: readonly {
  readonly path: string
  readonly label: string
  readonly icon: IconName
  readonly also?: readonly string[]
}[] = [
  { path: 'data', label: 'Data', icon: 'grid' },
  { path: 'jobs', label: 'Jobs', icon: 'jobs', also: ['new', 'schedules', 'webhooks'] },
  { path: 'maps', label: 'Maps', icon: 'map', also: ['map'] },
  { path: 'sql', label: 'SQL', icon: 'search' },
  { path: 'route', label: 'Route', icon: 'route' },
  { path: 'functions', label: 'Functions', icon: 'func' },
  { path: 'keys', label: 'Keys', icon: 'key' },
]

/** Frame of every project page: the project, the navigation, and the user menu. */
export function Shell(props: {
  project: Pick<Project, 'ref' | 'reference' | 'name'>
  children: ComponentChildren
}): JSX.Element {
  const { project } = props
  const { path } = usePlace()
  const section = path.split('/')[3] ?? 'data'
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header class="rail">
        <Link class="brand" href="/" aria-label="Terrane: all projects">
          <Mark />
          <span>Terrane</span>
        </Link>
        <ProjectSwitch project={project} />
        <nav class="nav" aria-label="Project">
          {SECTIONS.map(({ path: to, label, icon, also }) => (
            <Link
              key={to}
              href={`/p/${project.ref}/${to}`}
              {...((section === to || also?.includes(section)) && { 'aria-current': 'page' as const })}
            >
              <Icon name={icon} size={18} />
              {label}
            </Link>
          ))}
        </nav>
        <div class="foot">
          <AccountMenu />
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        {props.children}
      </main>
      <DropAnywhere projectRef={project.ref} />
    </div>
  )
}

function ProjectSwitch({ project }: { project: Pick<Project, 'ref' | 'reference' | 'name'> }): JSX.Element {
  const projects = useResource('projects', readProjects)
  return (
    <Menu
      class="project-switch"
      label="Switch the project"
      button={
        <>
          <span class="truncate">{project.name}</span>
          <Icon name="chevrons" size={14} />
          <span class="truncate small faint mono ref">{project.reference}</span>
        </>
      }
    >
      {(close) => (
        <>
          {projects.value?.map(({ ref, name, organization }) => (
            <button
              key={ref}
              type="button"
              class="item"
              onClick={() => {
                close()
                navigate(`/p/${ref}/data`)
              }}
            >
              <span class="truncate">
                {name} <span class="faint small">{organization.name}</span>
              </span>
            </button>
          ))}
          <hr />
          <Link class="item" href="/">
            All projects
          </Link>
        </>
      )}
    </Menu>
  )
}
