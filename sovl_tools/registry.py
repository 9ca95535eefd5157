"""The registry: the one object that changes. It has a catalog and answers from it."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import (
    AsyncGenerator,
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractContextManager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from sovl_tools.formats.export import Export
from sovl_tools.loading.catalog_builder import errors_in, report_of
from sovl_tools.loading.load import Load, import_later, load, log_change, log_load, log_sources
from sovl_tools.loading.lock import read_lock
from sovl_tools.loading.sources import Contents
from sovl_tools.model.call import SERVER_TIMEOUT
from sovl_tools.model.caller import (
    check_iterable,
    check_names,
    check_path,
    check_seconds,
    check_subscriber,
    check_text,
    check_type,
)
from sovl_tools.model.catalog import Candidate, Catalog, CatalogChange, LoadReport
from sovl_tools.model.context import Watch
from sovl_tools.model.definition import StepHandler, ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON, copied
from sovl_tools.model.errors import ToolNotFoundError
from sovl_tools.model.folder import IMPORT_TIMEOUT, Settings
from sovl_tools.model.former_names import refuse_attribute, with_names_here
from sovl_tools.model.path_patterns import patterns_of
from sovl_tools.model.suggestion import nearest_tool
from sovl_tools.search.lookup import NamePattern, Searchable, checked_criteria, meets
from sovl_tools.threads import is_from_user

_LOGGER = logging.getLogger("sovl_tools")
_ORIGINS = {"Procedures": "sovl_tools.procedures.manager"}
_MCP_SERVER = "sovl_tools.serving.mcp_server"
_VIEW = "sovl_tools.view"

Subscriber: TypeAlias = Callable[[CatalogChange], object]
"""Called at every change of a catalog; its return value is ignored."""


def tools_directory(path: str | os.PathLike[str]) -> ToolRegistry:
    """Return the registry of a directory of tool folders, for a caller who names one.

    Raises:
        ValueError: the directory doesn't exist.
    """
    if not os.path.isdir(path):
        raise ValueError(f"there's no tools directory {os.fspath(path)!r}")
    return ToolRegistry.from_directory(path)


class ToolRegistry(Searchable):
    """Tools by name. Reading needs no lock: each answer is from one whole catalog."""

    if not TYPE_CHECKING:  # to a type checker, a missing attribute stays missing

        def __getattr__(self, name: str) -> Any:
            """Return the name that an attribute of another framework has here."""
            refuse_attribute("ToolRegistry", name)

    def __init__(self) -> None:
        self._load = Load()
        self._catalog = self._load.catalog
        self._lock = threading.Lock()
        self._reloader: Any = None
        self._subscribers: dict[object, Subscriber] = {}
        self._source_diagnostics: tuple[Diagnostic, ...] = ()
        self._report: tuple[Catalog, object, LoadReport] | None = None
        self._exporter: Any = None

    @classmethod
    def from_directory(  # noqa: PLR0913 - independent options
        cls,
        *paths: str | os.PathLike[str],
        names: Collection[str] | None = None,
        exclude: Sequence[str] = (),
        import_timeout: float = IMPORT_TIMEOUT,
        locked: str | os.PathLike[str] | None = None,
        pythonpath: bool = True,
        lazy: bool = False,
    ) -> Self:
        """Return a registry of the tool folders in the directories.

        A broken folder or a missing path doesn't affect the rest: ``report`` lists the
        problems. Importing the modules runs their code, on a separate thread.

        Args:
            paths: tools directories, the first wins where two have a tool of one name. A tool
                folder and a file in one are accepted as well.
            names: load only the tools of these names.
            exclude: patterns of folders to skip, as in a ``.gitignore`` of the current
                directory: ``legacy_*``, ``tools/legacy_*``, ``**/vendored``.
            import_timeout: the limit for importing one module, in seconds.
            locked: a lock file, which is read now; tools that differ from it are rejected, now and
                by every reload.
            pythonpath: let tools import the packages of the project around the current directory,
                as the command line does: its directories are added to the end of ``sys.path``.

            lazy: import a module when its tool is first called, or its function first read. Until
                then the tool is made of its manifest and of what the module's text says; where
                that doesn't say enough, as of a decorated function, the module is imported now.

        Raises:
            LockError: the lock file is missing or damaged.
        """
        if pythonpath:
            from sovl_tools.configuration import add_project  # noqa: PLC0415 - tomllib, 5 ms

            add_project()
        registry = cls()
        registry._load_directories(
            paths,
            names=names,
            exclude=exclude,
            import_timeout=import_timeout,
            locked=locked,
            lazy=lazy,
        )
        return registry

    def _load_directories(  # noqa: PLR0913 - as above
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        names: Collection[str] | None,
        exclude: Sequence[str],
        import_timeout: float,
        locked: str | os.PathLike[str] | None,
        lazy: bool = False,
    ) -> None:
        """Load the tool folders of an empty registry; see ``from_directory``."""
        folders = [check_path("paths", path) for path in paths]
        wanted = None if names is None else check_names("names", names)
        patterns = check_names("exclude", exclude, "patterns")
        check_seconds("import_timeout", import_timeout)
        lock = None if locked is None else read_lock(check_path("locked", locked))
        settings = Settings(limit=import_timeout, locked=lock, defer=self._defer if lazy else None)
        self._load = load(folders, names=wanted, exclude=patterns, settings=settings)
        self._catalog = self._load.catalog
        self._source_diagnostics = self._load.collected.diagnostics
        log_load(self._catalog)
        log_sources(self._source_diagnostics)

    def _defer(self, contents: Contents, settings: Settings) -> Callable[[], ToolDefinition] | None:
        """Return what imports a folder's module later; None for a tool that is in use, or broken.

        A new version of these is imported now: it is announced whether it works, and if it doesn't
        the last good version serves.
        """
        tool, name = self._catalog.tools.get(contents.folder.name), contents.folder.name
        if name in self._catalog.unavailable or (tool is not None and tool.deferred is None):
            return None
        return partial(import_later, contents, settings, self._fail)

    def _fail(self, candidate: Candidate, contents: Contents) -> None:
        """Enter the result of a deferred import that has failed."""
        self._get_reloader().fail(candidate, contents)

    @property
    def catalog(self) -> Catalog:
        """The current tools; replaced as a whole when something changes."""
        return self._catalog

    @property
    def report(self) -> LoadReport:
        """The findings of the last load, and of every reload since."""
        # each read once: another thread may swap them in between
        catalog, found, cached = self.catalog, self._source_diagnostics, self._report
        if cached is None or cached[0] is not catalog or cached[1] is not found:
            cached = self._report = catalog, found, report_of(catalog, found)
        return cached[2]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """``report.errors``, without looking for warnings."""
        return errors_in(self.catalog, self._source_diagnostics)

    def __getitem__(self, name: str) -> ToolDefinition:
        """Return the tool of that name or alias.

        Raises:
            ToolNotFoundError: it doesn't exist or didn't load; the message has the reason.
        """
        catalog = self.catalog  # one catalog for the answer and for the reasons
        tool = catalog.get(name)
        if tool is None:
            reasons = catalog.unavailable.get(catalog.named(name))
            raise ToolNotFoundError(
                name,
                suggestion=nearest_tool(name, catalog.tools),
                reason="; ".join(reasons) if reasons else None,
            )
        return tool

    def get(self, name: str) -> ToolDefinition | None:
        """Return the tool of that name or alias, or None if it doesn't exist."""
        return self.catalog.get(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.catalog.get(name) is not None

    def __len__(self) -> int:
        return len(self.catalog.tools)

    def __iter__(self) -> Iterator[ToolDefinition]:
        return iter(self.catalog.tools.values())

    def __repr__(self) -> str:
        count = len(self)
        return f"<ToolRegistry with {count} tool{'s' * (count != 1)}>"

    def list_tools(self) -> list[ToolDefinition]:
        """Return all tools, ordered by name."""
        return list(self.catalog.tools.values())

    def schemas(self) -> list[dict[str, JSON]]:
        """Return the neutral definition ``{name, description, parameters}`` of every tool.

        A tool is omitted, with a warning, if a dynamic part of its schema fails.
        """
        found: list[dict[str, JSON]] = copied(self.definitions("json-schema"))
        return found

    def export(
        self,
        format: str,  # noqa: A002 - the usual word
        *,
        strict: bool = False,
        tools: Collection[str] | None = None,
        cache_control: dict[str, JSON] | None = None,
        defer_loading: Collection[str] = (),
    ) -> Export:
        """Return the tools in a provider's format, with what that loses.

        It is kept until tools change, unless functions make a schema.

        Args:
            format: ``json-schema``, ``openai``, ``openai-responses``, ``anthropic``, ``gemini``,
                ``openrouter``, ``mcp``, ``openapi`` or ``prompt``.
            strict: convert schemas so that the provider can enforce them, where possible.
            tools: names of the tools that are wanted, in their order; None for all.
            cache_control: for Anthropic, the value for the last definition that can be cached.
            defer_loading: for Anthropic, names of tools that are found by searching only.

        Raises:
            ValueError: the format is unknown, or has no strict form although one is wanted.
            ToolNotFoundError: one of the names is unknown.
        """
        from sovl_tools.loading.exporting import Exporter  # noqa: PLC0415 - 10 ms for its users

        check_text("format", format)
        if cache_control is not None:
            check_type("cache_control", cache_control, Mapping, "an object")
        if self._exporter is None:
            self._exporter = Exporter()
        chosen = None if tools is None else [self[name] for name in check_names("tools", tools)]
        deferred = frozenset(
            self[name].name for name in check_names("defer_loading", defer_loading)
        )
        options = {"cache_control": cache_control, "defer_loading": deferred}
        made: Export = self._exporter.export(self.catalog, format, chosen, strict=strict, **options)
        return made

    def definitions(self, format: str, **options: Any) -> Any:  # noqa: A002 - as above
        """Return ``export(format, …).definitions``, shared by all callers.

        The export must restore arguments for strict definitions.
        """
        return self.export(format, **options).definitions

    def prompt_instructions(self) -> str:
        """Return the tools' instructions for a system prompt, joined by blank lines."""
        return "\n\n".join(filter(None, (tool.current_instructions() for tool in self)))

    def filter(
        self,
        *predicates: Callable[[ToolDefinition], object] | Mapping[str, Any],
        name_pattern: NamePattern | Sequence[NamePattern] | None = None,
        **criteria: Any,
    ) -> list[ToolDefinition]:
        """Return the tools that meet all criteria.

        An attribute meets a list or a mapping if it has all its members, and any other value if it
        equals it or is a list with it. A name that isn't an attribute is looked up in ``metadata``,
        and then among the attributes of the object that the tool belongs to; a tool without it does
        not match.

        Args:
            predicates: functions that return true for a tool, or mappings of criteria.
            name_pattern: a shell pattern such as ``"aws_s3_*"``, or a compiled expression that
                is searched for in the name; or a list of them, one of which must match. A string
                with ``^``, ``$``, ``.*`` or a backslash is read as such an expression, with a
                warning in the log.
            criteria: attribute names or ``metadata`` keys, and the required values.
        """
        asked = checked_criteria(predicates, name_pattern, criteria)
        return [tool for tool in self if meets(tool, asked)]

    def select(
        self,
        *predicates: Callable[[ToolDefinition], object] | Mapping[str, Any],
        name_pattern: NamePattern | Sequence[NamePattern] | None = None,
        **criteria: Any,
    ) -> ToolRegistry:
        """Return a live view: a registry with the tools that meet all criteria at each moment.

            agent = Agent(tools=registry.select(tags="read"))

        For an agent, a server or a Tooler over the view no other tool exists, but its tools can
        call all tools. Its subscribers hear of its own changes. The criteria are like
        ``filter``'s; they are evaluated again at every change. A tool for which a function raises
        an exception later on is omitted, with a warning in the log.
        """
        asked = checked_criteria(predicates, name_pattern, criteria)
        for tool in self:
            meets(tool, asked)  # raises a predicate's error now
        view: ToolRegistry = import_module(_VIEW).View(self, asked)
        return view

    @property
    def whole(self) -> ToolRegistry:
        """The registry where tools call each other: a view's whole registry, else itself."""
        return self

    @with_names_here("ToolRegistry")
    def register(
        self, tool: Any, *, override: bool = False, strict: bool = False
    ) -> ToolDefinition | list[ToolDefinition]:
        """Enter a tool that isn't in a folder; return the definition that is now in force.

        A tool that was registered before stays, and wins over folders and packages. A function
        that isn't decorated gets a bare ``@tool``; of an object all ``@tool`` methods are
        entered, and a list is returned.

        Args:
            tool: a function, a method, an object with ``@tool`` methods, an ``AITool`` or a
                ToolDefinition.
            override: replace another tool of its name.
            strict: raise if another tool of its name is in force.

        Raises:
            TypeError: it isn't a tool, or its parameters can't be expressed.
            ToolLoadError: its definition is invalid; an object's valid tools are registered.
            DuplicateToolError: another tool of its name is in force, and ``strict`` is set.
        """
        made: ToolDefinition | list[ToolDefinition] = self._get_reloader().register(
            tool, override=override, strict=strict
        )
        return made

    def tool(self, function: Any = None, /, **marks: Any) -> Any:
        """Decorate a function as ``tool`` does, and register it; bare or with its arguments."""
        from sovl_tools.authoring.decorator import tool  # noqa: PLC0415 - most never need it

        def registered(decorated: Any) -> Any:
            self.register(tool(**marks)(decorated))
            return decorated

        return registered if function is None else registered(function)

    def unregister(self, name: str) -> None:
        """Remove a tool that was registered in code; another tool of its name replaces it.

        Raises:
            ToolNotFoundError: no tool of that name was registered in code.
        """
        check_text("name", name)
        if not self._get_reloader().unregister(name):
            raise ToolNotFoundError(name, among=" among the ones registered in code")

    def load_entry_points(
        self, group: str = "sovl_tools.tools", *, import_timeout: float = IMPORT_TIMEOUT
    ) -> CatalogChange:
        """Enter the tools of installed distributions: functions, classes, modules, packages.

        ``import_timeout`` is in seconds, for each entry point.
        """
        return self._load_origin("EntryPoints", group, import_timeout)

    def load_modules(
        self,
        path: str | os.PathLike[str],
        *,
        exclude: Sequence[str] = (),
        import_timeout: float = IMPORT_TIMEOUT,
    ) -> CatalogChange:
        """Enter decorated functions and ``AITool`` classes of modules in a directory.

        ``exclude`` is as for ``from_directory``, ``import_timeout`` in seconds for each module.
        """
        excluded = patterns_of(check_names("exclude", exclude, "patterns"), os.getcwd())
        place = os.path.abspath(check_path("path", path))
        return self._load_origin("Modules", place, import_timeout, excluded)

    def load_package(self, name: str, *, import_timeout: float = IMPORT_TIMEOUT) -> CatalogChange:
        """Enter the tools of a package and below, imported within ``import_timeout`` seconds."""
        return self._load_origin("Package", name, import_timeout)

    def load_package_folders(
        self, name: str, *, import_timeout: float = IMPORT_TIMEOUT
    ) -> CatalogChange:
        """Enter the tool folders in an installed package; ``import_timeout`` is for each."""
        return self._load_origin("PackageFolders", name, import_timeout)

    def load_procedures(self, path: str | os.PathLike[str]) -> CatalogChange:
        """Enter the procedures of a directory as tools: their inputs are the parameters."""
        return self._load_origin("Procedures", os.path.abspath(check_path("path", path)))

    def load_mcp(  # noqa: PLR0913 - independent options
        self,
        server: str,
        *,
        prefix: str | None = None,
        headers: Mapping[str, str] | None = None,
        env: Mapping[str, str | None] | None = None,
        timeout: float = SERVER_TIMEOUT,
        locked: str | os.PathLike[str] | None = None,
    ) -> CatalogChange:
        """Enter the tools of an MCP server, now and whenever the server says that they changed.

        A server that can't be reached is a diagnostic; its tools of before stay. Their precedence
        is for packages.

        Args:
            server: a command with its arguments, as in a shell, or a URL.
            prefix: begins the names of its tools: ``"git"`` makes ``status`` ``git_status``.
            headers: headers for a URL, with their values.
            env: variables for a command; None as a value passes on this process's.
            timeout: the limit for connecting to the server and for listing its tools, in seconds.
            locked: a snapshot of ``sovl-tools check --update``; a tool whose definition differs
                from it is rejected, also if it changes later.

        Raises:
            ValueError: the server, the prefix or the timeout is invalid.
        """
        remote = import_module("sovl_tools.remote.origin")
        origin = remote.remote_tools(
            server,
            prefix=prefix,
            headers=headers,
            env=env,
            timeout=timeout,
            locked=None if locked is None else os.fspath(locked),
        )
        change: CatalogChange = remote.enter(self._get_reloader().look, origin)
        return change

    def _load_origin(self, kind: str, *place: Any) -> CatalogChange:
        check_text("the name", place[0])
        if len(place) > 1:
            check_seconds("import_timeout", place[1])
        # by name: most programs load no code, and procedures are above this layer
        module = import_module(_ORIGINS.get(kind, "sovl_tools.loading.plugins"))
        change: CatalogChange = self._get_reloader().look(getattr(module, kind)(*place))
        return change

    def reload(self) -> CatalogChange:
        """Check every source again, load the changed ones, and return the difference.

        Modules of folders run again if their sources, or data files that the manifest lists, have
        changed, modules of plugins if their sources have. Python imports packages and the modules
        of entry points once; only new tools in them are found. The last good version of a tool
        serves while it can't be loaded. Running calls end with the code they began with.
        """
        change: CatalogChange = self._get_reloader().reload()
        return change

    def watch(
        self, *, poll: bool = False, libraries: Iterable[str | os.PathLike[str]] = ()
    ) -> AbstractContextManager[Watch]:
        """Reload changed tools in the background, for as long as a block.

            with registry.watch():
                serve(registry)

        Args:
            poll: check everything each second instead of waiting for the system's events, which
                network file systems and some containers do not deliver.
            libraries: folders and modules outside the tools directories; when one changes, all
                tool folders and plugins are loaded again.
        """
        check_iterable("libraries", libraries, "a list of paths")
        watch: AbstractContextManager[Watch] = self._get_reloader().watch(
            poll=poll, libraries=[check_path("libraries", each) for each in libraries]
        )
        return watch

    def subscribe(self, on_change: Subscriber) -> Callable[[], None]:
        """Call a function at every change of the catalog; return a function that ends this.

        It is called after the swap, in the thread that made it, and should return soon. Its
        exceptions are logged, and the other subscribers are called; Ctrl-C is raised after that.

        Raises:
            TypeError: it can't be called, or only be awaited; ``changes`` is for async code.
        """
        check_subscriber(on_change)
        key = object()  # one function may subscribe twice, and end one of both
        self._subscribers[key] = on_change
        return partial(self._unsubscribe, key)

    def _unsubscribe(self, key: object) -> None:
        self._subscribers.pop(key, None)

    def changes(
        self, *, poll: bool = False, libraries: Iterable[str | os.PathLike[str]] = ()
    ) -> AsyncGenerator[CatalogChange]:
        """Watch the directories and yield every change of the catalog; see ``watch``.

        async for change in registry.changes():
            print(change.updated)
        """
        from sovl_tools.reloading.watcher import stream  # noqa: PLC0415 - 5 ms

        return stream(self.subscribe, self.watch(poll=poll, libraries=libraries))

    def _get_reloader(self) -> Any:
        """Return the reloader; most programs never need it."""
        from sovl_tools.reloading.reloader import Reloader  # noqa: PLC0415 - 5 ms

        with self._lock:
            if self._reloader is None:
                self._reloader = Reloader(self._load, self._swap, self._tell)
                self._load = Load()  # the replaced state must not be kept here
            return self._reloader

    def _swap(self, catalog: Catalog, found: tuple[Diagnostic, ...], change: CatalogChange) -> None:
        """Replace the catalog, and log what changes."""
        before, self._catalog = self._catalog, catalog
        log_sources(found, self._source_diagnostics)
        self._source_diagnostics, self._report = found, None
        log_change(change, catalog, before.candidates)

    def _tell(self, change: CatalogChange) -> None:
        """Call the subscribers if anything changed."""
        if not change:
            return
        interrupt: BaseException | None = None
        for subscriber in list(self._subscribers.values()):  # one may end its own subscription
            try:
                subscriber(change)
            except BaseException as error:
                if is_from_user(error):
                    interrupt = error  # other subscribers hear of the change first
                else:
                    _LOGGER.exception("a subscriber failed at a change of the catalog")
        if interrupt is not None:
            raise interrupt

    def mcp_server(self, tooler: Any = None, **options: Any) -> Any:
        """Return a server of the Model Context Protocol over the tools, with the extra ``mcp``.

        ``server`` is the SDK's, ``app()`` an ASGI application. Clients get changes while watching.

            with registry.watch():
                application.mount("/tools", registry.mcp_server().app())

        Args:
            tooler: what calls the tools; None for a Tooler without limits.
            options: see ``sovl_tools.serving.mcp_server.McpServer``.

        Raises:
            ImportError: the extra is not installed.
        """
        try:
            module = import_module(_MCP_SERVER)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"a server needs the extra mcp: pip install 'sovl-tools[mcp]' ({error})"
            ) from error
        return module.McpServer(self, tooler, **options)

    @property
    def step_handlers(self) -> Mapping[str, StepHandler]:
        """The step handlers that tools bring for procedures, by action."""
        return self.catalog.step_handlers
