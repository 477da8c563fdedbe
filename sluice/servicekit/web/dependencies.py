"""FastAPI dependencies that give a route the objects of its application, such as the context."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant

from sluice.servicekit.database import Database

ObjectT = TypeVar("ObjectT")

#: The attribute of a dependency from ``from_app`` that holds the class of the object.
_KIND = "__sluice_kind__"


class MissingObject(TypeError):
    """A programming error: an application was built without an object that a route needs."""

    def __init__(self, kind: type[Any], route: str) -> None:
        super().__init__(
            f"{route} needs a {kind.__name__}: add one to the argument 'provide' of create_app"
        )


def objects_by_class(provided: Iterable[object]) -> dict[type[Any], object]:
    """Return the objects by their classes and the classes that these derive from."""
    return {kind: each for each in provided for kind in type(each).__mro__}


def from_app(kind: type[ObjectT]) -> Callable[[Request], Awaitable[ObjectT]]:
    """Return the FastAPI dependency on the object of a class that ``create_app`` got.

    Use it as ``Context = Annotated[DmsContext, Depends(from_app(DmsContext))]``.
    """

    async def get_object(request: Request) -> ObjectT:
        app_object: ObjectT = request.app.state.objects[kind]
        return app_object

    setattr(get_object, _KIND, kind)
    return get_object


def require_objects(
    dependant: Dependant, objects: Mapping[type[Any], object], *, route: str
) -> None:
    """Check that an application has the objects that a route needs.

    Args:
        dependant: The dependencies of the route.
        objects: The objects of the application by class.
        route: The method and path of the route.

    Raises:
        MissingObject: An object is missing.
    """
    for each in dependant.dependencies:
        kind: type[Any] | None = getattr(each.call, _KIND, None)
        if kind is not None and kind not in objects:
            raise MissingObject(kind, route)
        require_objects(each, objects, route=route)


#: The database of the service.
AppDatabase = Annotated[Database, Depends(from_app(Database))]
